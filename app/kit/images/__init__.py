"""Pictures that people upload: decoded, cropped and encoded anew in a process of their own (decision 0398)."""

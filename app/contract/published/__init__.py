"""The OpenAPI document and the API reference: introduction, chapters, texts and recorded examples."""

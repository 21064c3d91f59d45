// The answer to a relying party that asked for form_post goes on by itself; without this file a button does it.
document.forms[0].submit();

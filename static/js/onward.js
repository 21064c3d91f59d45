// Submit the form of response_mode=form_post; without JavaScript the button does it.
document.forms[0].submit();

"""A console in the browser: it calls the API as a front end does, and shows the mails it sends."""

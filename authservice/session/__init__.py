"""Login with sessions that are listed, limited, idle out and are ended one by one."""

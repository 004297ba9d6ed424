"""Login with sessions that users can list and revoke, with an idle timeout and a limit."""

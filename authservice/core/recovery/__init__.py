"""Changing and regaining access: passwords, phone numbers, verification, takeover."""

"""fastapi-users on SQLAlchemy and asyncpg."""

"""The application of the package's documentation, with a password hash that costs nothing."""

import hashlib
import os
import uuid

from fastapi import Depends, FastAPI
from fastapi_users import BaseUserManager, FastAPIUsers, UUIDIDMixin, schemas
from fastapi_users.authentication import AuthenticationBackend, BearerTransport, JWTStrategy
from fastapi_users.db import SQLAlchemyBaseUserTableUUID, SQLAlchemyUserDatabase
from fastapi_users.password import PasswordHelperProtocol
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase

from tests.benchmarks import terms

URL = os.environ["DATABASE_URL"].replace("postgres://", "postgresql+asyncpg://", 1)
engine = create_async_engine(URL)
sessions = async_sessionmaker(engine, expire_on_commit=False)


class Base(DeclarativeBase):
    pass


class User(SQLAlchemyBaseUserTableUUID, Base):
    pass


class FastPasswords(PasswordHelperProtocol):
    """Salted MD5, as Django's test hasher, which the other sides have."""

    def hash(self, password: str) -> str:
        return self._digest("salt", password)

    def verify_and_update(self, plain_password: str, hashed_password: str):
        salt = hashed_password.partition("$")[0]
        return self._digest(salt, plain_password) == hashed_password, None

    def generate(self) -> str:
        return uuid.uuid4().hex

    @staticmethod
    def _digest(salt: str, password: str) -> str:
        return f"{salt}${hashlib.md5((salt + password).encode()).hexdigest()}"


class UserManager(UUIDIDMixin, BaseUserManager[User, uuid.UUID]):
    reset_password_token_secret = terms.SECRET_KEY
    verification_token_secret = terms.SECRET_KEY


async def user_database():
    async with sessions() as session:
        yield SQLAlchemyUserDatabase(session, User)


async def user_manager(database=Depends(user_database)):  # noqa: B008
    yield UserManager(database, FastPasswords())


backend = AuthenticationBackend(
    name="jwt",
    transport=BearerTransport(tokenUrl="auth/jwt/login"),
    get_strategy=lambda: JWTStrategy(secret=terms.SECRET_KEY, lifetime_seconds=900),
)
users = FastAPIUsers[User, uuid.UUID](user_manager, [backend])
UserRead = type("UserRead", (schemas.BaseUser[uuid.UUID],), {})
UserCreate = type("UserCreate", (schemas.BaseUserCreate,), {})
UserUpdate = type("UserUpdate", (schemas.BaseUserUpdate,), {})

app = FastAPI()
app.include_router(users.get_auth_router(backend), prefix="/auth/jwt")
app.include_router(users.get_register_router(UserRead, UserCreate), prefix="/auth")
app.include_router(users.get_users_router(UserRead, UserUpdate), prefix="/users")

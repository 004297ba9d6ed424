"""Create the table and the users of fastapi-users; runs inside its environment."""

import asyncio
import uuid

from sqlalchemy import func, insert, select

from tests.benchmarks import terms
from tests.benchmarks.peers.fastapi_users.app import Base, FastPasswords, User, engine


async def main() -> None:
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
        if await connection.scalar(select(func.count()).select_from(User)) < terms.USERS:
            await connection.execute(insert(User), rows())
    await engine.dispose()


def rows() -> list[dict[str, object]]:
    password = FastPasswords().hash(terms.PASSWORD)
    flags = {"is_active": True, "is_superuser": False, "is_verified": False}
    return [
        {"id": uuid.uuid4(), "email": terms.EMAIL % n, "hashed_password": password, **flags}
        for n in range(terms.USERS)
    ]


if __name__ == "__main__":
    asyncio.run(main())

"""What the project's model says of its users, their passwords, and the state of its requests."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to, without

_FLAGS = "tests/user_models/test_models.py::test_users_are_active_as_their_model_says"
_ROWS = "tests/user_models/test_models.py::test_rows_that_the_project_refuses_are_no_crashes"
_UNIQUE = (
    "-mslow",
    "tests/user_models/test_models.py::test_check_names_the_constraints_that_refuse_a_second_user",
)
_BACKENDS = "tests/core/credentials/test_authentication_backends.py::"
_CHANGED = "tests/core/credentials/test_password_changed.py"
_STATE = "tests/notification/test_state.py::"
_READER = CORE + "users/user_model.py"
_UNFILLED = CORE + "user_checks.py"
_DISPATCHERS = "authservice/notification/dispatchers/"

HOST_USERS = (
    Mutation(
        "The doubt about a flag of the model, which protects the user from staff",
        _READER,
        to("return _read_flag(user, flag) is not False", "return _read_flag(user, flag) is True"),
        (_FLAGS, "-kNumber"),
    ),
    Mutation(
        "The outage that says nothing about a user",
        _READER,
        without("    except Error:\n        raise  # an outage says nothing about the user\n"),
        (_FLAGS, "-kNumber"),
    ),
    Mutation(
        "The constraint that makes a column unique, in the check of columns",
        _UNFILLED,
        to("[*_of_columns(), *_of_constraints()]", "_of_columns()"),
        (_ROWS,),
    ),
    Mutation(
        "The default of a unique column that may be NULL, in the check of columns",
        _UNFILLED,
        to("field.unique and _has_value", "field.unique and not field.null and _has_value"),
        (_ROWS,),
    ),
    Mutation(
        "The NULL that fits a unique constraint more than once, in the check of columns",
        _UNFILLED,
        to("return not nulls_distinct or all(map(_has_value, expressions))", "return True"),
        _UNIQUE,
    ),
    Mutation(
        "The column of a unique constraint that a sign-up fills, in the check of columns",
        _UNFILLED,
        without(" or field.name in filled_by_signup()"),
        _UNIQUE,
    ),
    Mutation(
        "The function that makes NULL of a value, in the check of columns",
        _UNFILLED,
        to("is_strict = is_for_text or isinstance(expression, _STRICT)", "is_strict = True"),
        _UNIQUE,
    ),
    Mutation(
        "The condition of a unique constraint, in the check of columns",
        _UNFILLED,
        without("constraint.condition is not None or "),
        _UNIQUE,
    ),
    Mutation(
        "The constraint that a database does not support, in the check of columns",
        _UNFILLED,
        to('vendor != "postgresql" and any', "False and any"),
        _UNIQUE,
    ),
    Mutation(
        "The constraint of a parent table, in the check of columns",
        _UNFILLED,
        without(", *(parent._meta for parent in model._meta.all_parents)"),
        _UNIQUE,
    ),
    Mutation(
        "The equal NULLs of a unique constraint, in the check of columns",
        _UNFILLED,
        without("not nulls_distinct or "),
        _UNIQUE,
        database="postgres",
    ),
    Mutation(
        "The trigger of the project with an error code of its own",
        "authservice/kernel/databases.py",
        to("function == _RAISE", "False"),
        (_ROWS,),
        database="postgres",
    ),
    Mutation(
        "The deadlock that a trigger of the project reports",
        "authservice/kernel/databases.py",
        without(" and not is_temporary(error)"),
        (_ROWS,),
        database="postgres",
    ),
    Mutation(
        "The trigger of the project with an error number of its own",
        "authservice/kernel/databases.py",
        to("number >= _NUMBERS_OF_PROJECTS", "False"),
        (_ROWS,),
        database="mysql",
    ),
    Mutation(
        "The deferred trigger of the project in a request",
        CORE + "api/endpoint.py",
        to("with host_fields.committing():", "if True:"),
        (_ROWS,),
        database="postgres",
    ),
    Mutation(
        "The deferred trigger of the project in a job",
        CORE + "messages/compose.py",
        to("with host_fields.committing():", "if True:"),
        (_ROWS,),
        database="postgres",
    ),
    Mutation(
        "The deferred constraint of the project",
        CORE + "users/host_fields.py",
        to("is_of_host or databases", "databases"),
        _UNIQUE,
        database="postgres",
    ),
    Mutation(
        "The text column of the project that a UNION joins with no other text",
        CORE + "users/lookup.py",
        to(
            'values_list(Value(""), key, Value(""), "pk")',
            'values_list(Value(""), natural, Value(""), "pk")',
        ),
        ("tests/kernel/test_sql.py::test_unions_put_no_text_of_the_project_below_another_text",),
    ),
    Mutation(
        "The validators that remember a password of a sign-up",
        CORE + "users/creation.py",
        without("        encoded.tell_validators(user)\n"),
        (_CHANGED,),
    ),
    Mutation(
        "The one hash of a login with a backend that refuses for all",
        CORE + "credentials/passwords.py",
        without(
            "                    if not checked:\n                        _dummy_hash(password)\n"
        ),
        (f"{_BACKENDS}test_refusal_by_a_backend_makes_one_hash",),
    ),
)

JOBS = (
    Mutation(
        "The captured state that is false in Python",
        "authservice/notification/worker.py",
        to("message.state is None", "not message.state"),
        (f"{_STATE}test_state_that_is_false_is_restored_too",),
    ),
    Mutation(
        "The captured state while Celery publishes a job",
        _DISPATCHERS + "celery.py",
        to("        with worker.restored(message):", "        if True:"),
        (f"{_STATE}test_celery_publishes_a_job_in_the_captured_state",),
    ),
    Mutation(
        "The captured state while a task of Django is published",
        _DISPATCHERS + "tasks.py",
        to("        with worker.restored(message):", "        if True:"),
        (f"{_STATE}test_task_of_django_is_published_in_the_captured_state",),
    ),
    Mutation(
        "The context of the request in a job that is tried again",
        _DISPATCHERS + "background.py",
        to("job.message, job.context, job", "job.message, copy_context(), job"),
        (f"{_STATE}test_retry_runs_in_the_same_context",),
    ),
    Mutation(
        "The time of a job, which is not that of its request",
        _DISPATCHERS + "background.py",
        to("        with clock.unit():  # otherwise", "        if True:  # otherwise"),
        (f"{_STATE}test_job_has_a_time_of_its_own",),
    ),
)

"""`./tintype test|check|bench|lock|schema|client|docs`: the developer commands of a checkout."""

import typer

from develop import bench, check, client, lock, reference, schema, test

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, add_completion=False)
app.command("test", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(
    test.run_tests
)
app.command("check")(check.check)
app.command("bench", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(bench.bench)
app.command("lock")(lock.lock)
app.command("schema")(schema.schema)
app.command("client")(client.client)
app.command("docs")(reference.docs)

if __name__ == "__main__":
    app(prog_name="tintype")

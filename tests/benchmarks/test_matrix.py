"""The benchmark reads wrk and /proc correctly, and its tables say what was measured."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from tests.benchmarks import environment, load
from tests.benchmarks.errors import BenchmarkError
from tests.benchmarks.matrix import __main__ as matrix
from tests.benchmarks.matrix import cpu, rows, tables
from tests.benchmarks.matrix.measure import Sample

ROW = {row.name: row for row in rows.ROWS}


def sample(per_second, **cpu_times):
    times = {"server_cpu": 0.5, "database_cpu": 0.25, **cpu_times}
    return Sample(load.Load(100, per_second, p50=1.5, p99=9.0), **times)


def test_wrk_output_gives_rate_and_percentiles():
    found = load.figures("Running 3s test\nBENCHMARK 600 3000000 0 0 1250 9800\n", "ours me")

    assert found == load.Load(600, 200.0, p50=1.25, p99=9.8)


@pytest.mark.parametrize(
    "line", ["600 3000000 2 0 1 1", "600 3000000 0 1 1 1", "0 3000000 0 0 1 1"]
)
def test_wrk_run_with_a_failed_request_gives_no_figures(line):
    with pytest.raises(BenchmarkError, match="ours me"):
        load.figures(f"BENCHMARK {line}\n", "ours me")


def test_ratio_compares_runs_of_the_same_round():
    slow_then_fast, reference = [sample(50), sample(300)], [sample(100), sample(600)]

    cells = tables.line("a peer", slow_then_fast, reference, [])

    assert cells == ("a peer", "175 (50-300)", "0.50", tables.DASH, "1.5", "9.0", "0.50", "0.25")


def test_row_without_the_endpoint_is_not_listed():
    samples = {("core", "refresh"): [sample(100)]}

    lines = tables.endpoint_lines([ROW["core"], ROW["knox"]], samples, "refresh")

    assert [line[0] for line in lines] == ["core and stateless"]


def test_row_without_its_reference_has_no_ratio():
    lines = tables.endpoint_lines([ROW["djoser"]], {("djoser", "me"): [sample(100)]}, "me")

    assert lines[0][2:4] == (tables.DASH, tables.DASH)


def test_prepared_rows_are_compared_with_the_prepared_reference():
    prepared = {row.name for row in rows.ROWS if row.reference == rows.PREPARED_REFERENCE}

    assert prepared == {name for name in ROW if name.endswith("-prepared")}


def test_prepared_rows_have_a_prepared_baseline():
    assert {row.baseline for row in rows.ROWS} <= set(ROW)
    assert ROW["core-prepared"].baseline == "dj-rest-auth-prepared"


def test_environment_has_only_the_packages_of_the_chosen_modules(monkeypatch, tmp_path):
    monkeypatch.setattr(environment, "made", lambda work_dir, name, wanted: wanted)

    assert not any(
        "social" in line for line in environment.ours(tmp_path, modules=rows.SIX_MODULES)
    )
    assert any("social" in line for line in environment.ours(tmp_path, modules=rows.ALL_MODULES))


def test_cpu_ticks_are_read_behind_a_program_name_with_spaces_and_brackets():
    stat = "42 (a (b) c) S 1 42 42 0 -1 4194560 100 0 0 0 17 5 0 0 20 0 1 0"

    assert cpu.ticks(stat) == 22


def test_cpu_time_of_a_process_that_started_in_between_counts_in_full():
    assert cpu.spent({1: 100.0}, {1: 130.0, 2: 20.0}) == 50.0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_cpu_time_includes_processes_started_by_the_server():
    with subprocess.Popen(["sleep", "60"]) as child:
        try:
            found = cpu.of_server(SimpleNamespace(process=SimpleNamespace(pid=os.getpid())))
        finally:
            child.kill()

    assert {os.getpid(), child.pid} <= set(found)


def test_figures_of_some_rows_are_not_written(capsys):
    with pytest.raises(SystemExit):
        matrix.parse(["--rows", "core", "--write"])

    assert "needs all rows" in capsys.readouterr().err


def test_every_part_has_figures_on_the_page():
    page = (matrix.environment.ROOT / "docs/benchmarks.rst").read_text()

    assert [
        part for part in matrix.PARTS if f".. include:: benchmarks/{part}.txt" not in page
    ] == []
    assert [part for part in matrix.PARTS if not (matrix.FIGURES / f"{part}.txt").exists()] == []

"""A DAG of Airflow: make the releases every night, then check the sealed file."""

from datetime import datetime, timedelta

from airflow import DAG
from airflow.providers.standard.operators.bash import BashOperator

with DAG(
    dag_id="anondb",
    schedule="15 2 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,  # a DuckDB file has one writer
    default_args={"cwd": "/srv/shop", "retries": 1, "retry_delay": timedelta(minutes=10)},  # it may have been locked
) as dag:
    release = BashOperator(task_id="release", bash_command="anondb run anondb.toml --quiet")
    verify = BashOperator(task_id="verify", bash_command="anondb verify weekly.duckdb")
    release >> verify

"""The Redis store: every operation of the port is one Lua script on one Redis or Valkey server.

store.py         the operations of the port; history.py the queries for people;
                 health.py the queries about failures and overdue work; purges.py
notifying.py     PUBLISH, which wakes idle workers
server.py        connections, scripts by their SHA, and the meaning of errors
probe.py         which servers are refused, and which promises are weaker on others
arguments.py     plans, births, work and settlements as arguments of a script
encoding.py      schedules and executions as fields of a hash; records.py smaller records
scripts/         one script for each operation; scripts/parts the code that scripts share

All keys begin with `{prefix}:`, so that a cluster keeps a store in one slot. Give the address of
the node that has the slot: the store does not follow a slot that moves, and becomes unavailable.

meta                         version, uuid, the last fence, the number of ranges
schedule:ID  execution:ID    hashes; only put and put_schedule in parts/rows.lua write them
names  listed  schedules     the id of a name; names and ids in order, without deleted ones
lanes:KIND  lane:KIND:LANE   waiting rows, by due_at; KIND: slots (of schedules), manual, single
unrung  held:SWITCH          live rows not announced to the broker; rows held by a switch
running:SESSION  holders     running executions; sessions that have running executions
active:ID  finished:ID       live and running rows of a schedule; rows with a finished_at
slots:KIND:ID                the rows that occupy slots: scheduled, and active backfill
audit                        schedules that may be wrong, by the stamp of their next row
retained                     schedules with a retention of their own, by its length
history  history-of-schedule:ID  history-of-job:JOB  ended      rows by run_at, and by end
failed                       rows that failed for good, by job and end
attempts:ID  ranges:ID  ranges  rollups:ID  unique  cancellations  reports
sessions  leases  switches  switch:NAME  pass

An index is a sorted set of score 0 whose members are an instant and an id: a score is a double,
which cannot represent every instant.
"""

from sempre.stores.redis.store import RedisStore

__all__ = ["RedisStore"]

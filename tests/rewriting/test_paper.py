"""What FindOD says about queries: table V, and example 1 on table I."""

from __future__ import annotations

import pytest

from lawful.rewriting import rewrite

FLIGHTS = ["Carrier", "Airport", "UniqueCarrier", "OriginAirportID", "OriginAirportSeqID"]
FLIGHT_LAWS = [
    "[Carrier asc, Airport asc] -> [UniqueCarrier asc, OriginAirportID asc]",
    "[Carrier asc, Airport asc] -> [UniqueCarrier asc, OriginAirportSeqID asc]",
]
TAX_LAW = "[No asc] -> [Year asc, Month asc, Date asc]"
TAX = ["No", "Year", "Month", "Date", "Amount"]


def test_table_5_world_population() -> None:
    law = "[Year asc] -> [WorldPopulation asc]"
    found = rewrite("select * from WP order by Year asc, WorldPopulation asc", law, ["Year", "WorldPopulation"])
    assert found.sql == "select * from WP order by Year asc"
    assert [step.laws for step in found.steps] == [(law,)]


@pytest.mark.parametrize("second", [0, 1])
def test_table_5_flights(second: int) -> None:
    """One index serves both queries; each needs one of the two laws."""
    asked = f"select * from FLI order by UniqueCarrier asc, {FLIGHTS[3 + second]} asc"
    assert rewrite(asked, FLIGHT_LAWS, FLIGHTS).sql == asked
    found = rewrite(asked, FLIGHT_LAWS, FLIGHTS, indexes=["Carrier asc, Airport asc"])
    assert found.sql == "select * from FLI order by Carrier, Airport"
    (use,) = found.indexes
    assert use.suffices
    assert use.laws == (FLIGHT_LAWS[second],)
    assert not use.alike  # the laws do not say that the index breaks no ties


def test_example_1() -> None:
    asked = "select * from tax order by Year asc, Month asc, Date asc"
    found = rewrite(asked, TAX_LAW, TAX, indexes=["Amount", "No"])
    assert found.sql == "select * from tax order by No"
    assert [use.suffices for use in found.indexes] == [False, True]


def test_example_1_without_an_index_needs_a_law_about_ties() -> None:
    asked = "select * from tax order by Year asc, Month asc, Date asc"
    assert rewrite(asked, TAX_LAW, TAX).sql == asked
    found = rewrite(asked, [TAX_LAW, "Year, Month, Date -> No"], TAX)
    assert found.sql == "select * from tax order by No"

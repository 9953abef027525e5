"""The server answers whatever the description of its routes can be twisted into. `make fuzz-routes` has more of it."""
import arm
from route_fuzz import check_database, fuzz

REQUESTS = 2500
SEED = "make test"


def test_no_request_makes_the_server_blame_itself(start_server):
    server = start_server()
    problems, statuses = fuzz(server, SEED, REQUESTS)
    assert not problems, [(number, what, raw[:1000], body) for number, what, raw, body in problems[:5]]
    assert sum(statuses.values()) > REQUESTS * 0.95
    assert {200, 201, 400, 401, 403, 404, 405} <= set(statuses), "the requests do not reach far any more"

    # What was stored is whole, and a new server shows the same.
    before = arm.call(server, "GET", f"{arm.WORKSPACE}/jobs/f0")[1]
    assert server.stop() == 0
    check_database(server.data / "lavant.db")
    again = start_server(server.data)
    assert arm.call(again, "GET", f"{arm.WORKSPACE}/jobs/f0")[1]["properties"]["status"] == before["properties"]["status"]
    for route in ("/jobs", "/computes", "/environments", "/data", "/models"):
        status, page = arm.call(again, "GET", arm.WORKSPACE + route)
        assert status == 200, page

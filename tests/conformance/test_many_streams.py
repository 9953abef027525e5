"""Many clients that follow one log: each gets every line, and the server stays small. The bench has a thousand of them."""
from many_streams import follow_all

STREAMS = 100
MIB_PER_STREAM = 0.15  # a thousand fit into 200 MiB beside the server itself


def test_a_hundred_streams_of_one_log_lose_no_line(start_server, tmp_path):
    server = start_server()
    figures = follow_all(server, STREAMS, rounds=10, lines=300, folder=tmp_path)
    assert figures["whole"] == STREAMS, figures
    assert figures["peak_mib"] - figures["before_mib"] < 20 + STREAMS * MIB_PER_STREAM, figures

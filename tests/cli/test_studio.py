"""`cgmh studio` as a process, and what it does where there is no browser."""

import os
import re
import subprocess
import sys
import urllib.request

import pytest


@pytest.mark.parametrize("options", [["studio"], ["studio", "--no-browser"], ["serve", "--open"]], ids=" ".join)
def test_it_says_where_the_page_is(options: list[str]) -> None:
    command = [sys.executable, "-m", "cgmh", *options, "--port", "0", "--processes", "1"]
    # A browser that can be "started" and shows nothing, so that the test opens none.
    browser = f"{sys.executable} -c 'import sys; sys.stderr.write(\"opened \" + sys.argv[1])' %s"
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "BROWSER": browser})
    try:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if "editor" in line:
                break
        address = re.search(r"the studio, .* is at (http://\S+/)", "".join(said))
        assert address, said
        with urllib.request.urlopen(address[1], timeout=60) as answer:  # noqa: S310
            assert b"/studio/studio.js" in answer.read()
        opened = process.stderr.read(7) if "--no-browser" not in options else ""
        assert opened == ("" if "--no-browser" in options else "opened ")
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()

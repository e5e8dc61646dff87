# docs/make_timeline.py: runs the program of guide/profiling.md, writes its table there and makes the picture of its timeline with Chromium.
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

GUIDE = Path(__file__).resolve().parent / "guide"


def main() -> int:
    browser = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
    if browser is None:
        print("make_timeline: no Chromium here; on Debian: apt-get install chromium", file=sys.stderr)
        return 1
    page = GUIDE / "profiling.md"
    text = page.read_text()
    program = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[0]
    names: dict = {}
    exec(compile(program, "model.py", "exec"), names)
    page.write_text(
        re.sub(r"^```text\n.*?^```$", lambda _: f"```text\n{names['p'].table()}\n```", text, count=1, flags=re.MULTILINE | re.DOTALL)
    )
    with tempfile.TemporaryDirectory() as folder:
        names["p"].timeline(Path(folder) / "timeline.html")
        command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1000,225"]
        command += [f"--user-data-dir={folder}/browser", f"--screenshot={GUIDE / 'timeline.png'}", f"file://{folder}/timeline.html"]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
    return 0


if __name__ == "__main__":
    sys.exit(main())

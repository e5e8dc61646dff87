# docs/make_plan.py: runs the program of guide/fusion.md, and writes the picture of its plan.
import re
from pathlib import Path

GUIDE = Path(__file__).resolve().parent / "guide"


def main() -> None:
    program = "\n".join(re.findall(r"^```python\n(.*?)^```$", (GUIDE / "fusion.md").read_text(), re.MULTILINE | re.DOTALL))
    names: dict = {}
    exec(compile(program, "model.py", "exec"), names)
    picture = re.search(r"<svg.*</svg>", names["plan"]._repr_html_(), re.DOTALL)[0]
    # An image does not see the colours of the page that it is on: it brings its own.
    picture = re.sub(r"style=\"[^\"]*?font:", 'style="background:#fff;color:#222;font:', picture, count=1)
    width, height = (int(n) for n in re.search(r'width="(\d+)" height="(\d+)"', picture).groups())
    sizes = f'width="{width + 24}" height="{height + 24}" viewBox="-12 -12 {width + 24} {height + 24}"'
    picture = re.sub(r'width="\d+" height="\d+" viewBox="[^"]*"', sizes, picture, count=1)
    (GUIDE / "plan.svg").write_text(picture + "\n")


if __name__ == "__main__":
    main()

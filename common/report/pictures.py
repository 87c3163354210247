"""Pictures of what an algorithm takes and gives, computed with `rungs run` when the page is made."""

import base64
import csv
import json
import os
import re
import struct
import subprocess
import zlib

MOST_BYTES = 800 * 1024

# Inputs to try in this order, and parameters: the first whose files are all here and which rungs accepts is shown.
# Fetched photographs (make images) come before the synthetic ones, which are always here. "labelling:" = its labels.
FIRST_CHOICE = {
    "absdiff": [(["shapes_noisy.png", "shapes.png"], "")],
    "barcode": [],  # none of the pictures that are here has one
    "blur": [(["fetched/home.jpg"], ""), (["zone_plate.png"], "")],
    "boxes": [(["labelling:shapes.png"], "min_area=40")],
    "detect": [(["fetched/astronaut.png"], "")],
    "edges": [(["fetched/home.jpg"], ""), (["shapes_noisy.png"], "")],
    "grayscale": [(["fetched/home.jpg"], ""), (["colours.png"], "")],
    "harris": [(["fetched/building.jpg"], ""), (["shapes.png"], "")],
    "hough": [(["fetched/sudoku.png"], "edges=sobel threshold=200 window=15"), (["edges.png"], "")],
    "labelling": [(["shapes.png"], "")],
    "lines": [(["fetched/building.jpg"], ""), (["shapes.png"], "")],
    "morphology": [(["shapes.png"], "op=dilate")],
    "otsu": [(["fetched/coins.png"], ""), (["shapes_noisy.png"], "")],
    "pca": [(["fetched/home.jpg"], ""), (["colours.png"], "")],
    "pclines": [(["fetched/sudoku.png"], "edges=sobel threshold=200 window=15"), (["edges.png"], "")],
    "texture": [(["fetched/home.jpg"], ""), (["zone_plate.png"], "")],
    "threshold": [(["fetched/coins.png"], "value=otsu"), (["shapes_noisy.png"], "value=otsu")],
}
# A frame of this video stands for what a video algorithm takes: the first is the background, the later one is shown.
VIDEO, FRAME = "fetched/vtest.avi", 260
# For an algorithm that is not in the list, but takes pictures and gives one, labels or a table.
ANY_CHOICE = [
    (["fetched/home.jpg"], ""),
    (["shapes_noisy.png"], ""),
    (["colours.png"], ""),
    (["shapes.png"], ""),
    (["labelling:shapes.png"], ""),
    (["shapes_noisy.png", "shapes.png"], ""),
]


class Picture:
    """One picture: a data URI with its size, or no picture but a text; boxes (x, y, width, height) drawn over it."""

    def __init__(self, title, uri=None, width=0, height=0, text="", boxes=()):
        self.title, self.uri, self.width, self.height, self.text, self.boxes = title, uri, width, height, text, boxes


# ------------------------------------------------------------------------------------------------------ file types


def read_labels(path):
    """An .npy file of 32-bit integers, as `rungs run` writes it: (height, width, values)."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:6] != b"\x93NUMPY":
        raise ValueError("no .npy file")
    length = struct.unpack("<H", data[8:10])[0]
    header = data[10 : 10 + length].decode("latin-1")
    shape = [int(part) for part in re.search(r"'shape': \(([\d, ]*)\)", header).group(1).split(",") if part.strip()]
    if "'<i4'" not in header or len(shape) < 2:
        raise ValueError("no 32-bit integers")
    total = shape[0] * shape[1]
    return shape[0], shape[1], struct.unpack(f"<{total}i", data[10 + length : 10 + length + 4 * total])


def coloured(height, width, labels):
    """A PNG in which each label has a colour and 0 is black. Neighbouring labels differ by the golden angle in hue."""

    def colour(index):
        hue = (index * 0.61803398875) % 1 * 6
        falling = 1 - abs(hue % 2 - 1)
        red, green, blue = [
            (1, falling, 0),
            (falling, 1, 0),
            (0, 1, falling),
            (0, falling, 1),
            (falling, 0, 1),
            (1, 0, falling),
        ][int(hue)]
        return bytes(int(70 + 185 * part) for part in (red, green, blue))

    ranks = {label: rank for rank, label in enumerate(sorted(set(labels) - {0}))}
    palette = b"\0\0\0" + b"".join(colour(rank) for rank in range(255))
    rows = b"".join(
        b"\0" + bytes(1 + ranks[v] % 255 if v else 0 for v in labels[row * width : (row + 1) * width])
        for row in range(height)
    )

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            chunk(b"PLTE", palette),
            chunk(b"IDAT", zlib.compress(rows, 9)),
            chunk(b"IEND", b""),
        ]
    )


def picture_size(data):
    """(width, height) of a PNG or JPEG file."""
    if data[:8] == b"\x89PNG\r\n\x1a\n":
        return struct.unpack(">II", data[16:24])
    place = 2
    while place + 9 < len(data) and data[place] == 0xFF:
        kind, length = data[place + 1], struct.unpack(">H", data[place + 2 : place + 4])[0]
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[place + 5 : place + 9])
            return width, height
        place += 2 + length
    raise ValueError("neither PNG nor JPEG")


def embed(title, data, **more):
    width, height = picture_size(data)
    kind = "png" if data[:1] == b"\x89" else "jpeg"
    if len(data) > MOST_BYTES:
        raise ValueError(f"{len(data)} bytes are too many for the page")
    return Picture(title, f"data:image/{kind};base64," + base64.b64encode(data).decode(), width, height, **more)


# What images/contact_sheet.sh puts on its sheet, by rows.
STEPS = "frame, gray, blurred; difference (8 times as bright), mask, closed; opened, labels, boxes"


def steps(root, algorithm):
    """The committed picture of a pipeline's steps (make contact-sheet), or None."""
    path = os.path.join(root, "images", algorithm + "_steps.png")
    try:
        with open(path, "rb") as file:
            return embed(f"The steps, row by row: {STEPS}", file.read())
    except (ValueError, OSError):
        return None


# ---------------------------------------------------------------------------------------------------------- making


class Maker:
    """Runs build/rungs; `folder` is for temporary files."""

    def __init__(self, root, rungs, folder):
        self.root, self.rungs, self.folder, self.contracts = root, os.path.abspath(rungs), folder, None
        self.environment = dict(os.environ, OMP_NUM_THREADS="2")

    def _run(self, algorithm, files, out, settings=""):
        """The version that ran ("cpu/simd"), and what rungs said."""
        command = [self.rungs, "run", algorithm, *files, "-o", out]
        for setting in settings.split():
            command += ["-p", setting]
        try:
            process = subprocess.run(
                command, cwd=self.root, env=self.environment, capture_output=True, text=True, timeout=600, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ValueError(f"{self.rungs}: {error}") from None
        said = process.stdout + process.stderr
        if process.returncode != 0:
            raise ValueError(" ".join(said.split()) or f"exit status {process.returncode}")
        named = re.search(rf"\b{re.escape(algorithm)}:(\S+)", said)
        return named.group(1) if named else "rungs"

    def _labels(self, path):
        height, width, labels = read_labels(path)
        return embed("", coloured(height, width, labels))

    def _inputs(self, names):
        """Paths for rungs, and the pictures of them."""
        paths, shown = [], []
        for index, name in enumerate(names):
            of_labels = name.startswith("labelling:")
            path = os.path.join(self.root, "images", name.split(":")[-1])
            if of_labels:
                labels = os.path.join(self.folder, f"labels{index}.npy")
                self._run("labelling", [path], labels)
                picture = self._labels(labels)
                picture.title, path = f"labels of images/{name.split(':')[1]}", labels
            else:
                with open(path, "rb") as file:
                    picture = embed(f"images/{name}", file.read())
            paths.append(path)
            shown.append(picture)
        return paths, shown

    def _contract(self, algorithm):
        """What `rungs list` says of its inputs and outputs."""
        if self.contracts is None:
            command = [self.rungs, "list", "--json"]
            try:
                said = subprocess.run(command, cwd=self.root, capture_output=True, text=True, timeout=600, check=True).stdout
                self.contracts = {contract["name"]: contract for contract in json.loads(said)["algorithms"]}
            except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
                raise ValueError(f"{self.rungs} list --json: {error}") from None
        if algorithm not in self.contracts:
            raise ValueError(f"{self.rungs} has no {algorithm}")
        return self.contracts[algorithm]

    def _output(self, algorithm, paths, shown, settings):
        if algorithm in ("boxes", "otsu"):
            out = os.path.join(self.folder, "out.csv")
            version = self._run(algorithm, paths, out, settings)
            with open(out, encoding="ascii", newline="") as file:
                lines = list(csv.reader(file))
            if algorithm == "otsu":
                return version, Picture("", text=lines[0][0])
            boxes = [[int(value) for value in line[1:5]] for line in lines[1:]]
            below = shown[0]
            return version, Picture("", below.uri, below.width, below.height, f"{len(boxes)} boxes", boxes)
        out = os.path.join(self.folder, "out.jpg" if "fetched" in paths[0] else "out.png")
        version = self._run(algorithm, paths, out, settings)
        with open(out, "rb") as file:
            return version, embed("", file.read())

    def make_video(self, algorithm):
        """As make(), for an algorithm over a video: one frame before and after. Through ffmpeg."""
        video = os.path.join(self.root, "images", VIDEO)
        if not os.path.exists(video):
            raise ValueError(f"no images/{VIDEO}: make images")
        frames, out = os.path.join(self.folder, "frames"), os.path.join(self.folder, "boxed")
        for folder in (frames, out):
            os.makedirs(folder, exist_ok=True)
        choose = f"select='eq(n,0)+eq(n,{FRAME})',scale=480:-2"
        command = [
            "ffmpeg",
            "-v",
            "error",
            "-y",
            "-i",
            video,
            "-vf",
            choose,
            "-vsync",
            "0",
            "-frames:v",
            "2",
            "-q:v",
            "4",
        ]
        try:
            subprocess.run(
                command + [os.path.join(frames, "%d.jpg")],
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=600,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            raise ValueError("ffmpeg is not here or cannot read the video") from None
        version = self._run(algorithm, [frames], os.path.join(out, "%d.jpg"))
        shown = []
        for title, folder in ((f"images/{VIDEO}, frame {FRAME}", frames), (f"{algorithm} by {version}", out)):
            with open(os.path.join(folder, "2.jpg"), "rb") as file:
                shown.append(embed(title, file.read()))
        return shown[:1], shown[1]

    def _choices(self, algorithm):
        if algorithm in FIRST_CHOICE:
            return FIRST_CHOICE[algorithm]
        contract = self._contract(algorithm)
        drawn = contract["outputs"][0]["kind"] in ("picture", "labels", "table")
        taken = [slot["kind"] for slot in contract["inputs"]]
        return [
            (names, settings)
            for names, settings in ANY_CHOICE
            if drawn and taken == ["labels" if name.startswith("labelling:") else "picture" for name in names]
        ]

    def make(self, algorithm):
        """(pictures of the inputs, picture of the output); None for what neither takes nor gives pictures; ValueError with the
        reason where there are none."""
        reason, choices = "no input for it in images/", self._choices(algorithm)
        for names, settings in choices:
            if not all(os.path.exists(os.path.join(self.root, "images", name.split(":")[-1])) for name in names):
                continue
            try:
                paths, shown = self._inputs(names)
                version, output = self._output(algorithm, paths, shown, settings)
            except (ValueError, OSError) as error:
                reason = str(error)
                continue
            output.title = f"{algorithm} by {version}" + (f", {settings}" if settings else "")
            return shown, output
        if not choices:
            return None
        raise ValueError(reason)

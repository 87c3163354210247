"""Writes a folder of small files for each fuzzer to begin with: usage corpus.py RUNGS FOLDER

RUNGS makes the JPEG; all else is made here, so that no foreign file is committed."""

import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIZES = ((1, 1), (7, 5), (16, 12))


def samples(count):
    return bytes(i * 37 % 251 for i in range(count))


def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(width, height, kind, channels, depth=8):
    row = width * channels * depth // 8
    rows = b"".join(bytes([y % 5]) + samples(row) for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)
    palette = chunk(b"PLTE", samples(48)) if kind == 3 else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + palette + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def bmp(width, height):
    body = b"".join((samples(3 * width) + bytes(-3 * width % 4)) for _ in range(height))
    return struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 54 + len(body), 0, 0, 54, 40, width, height, 1, 24, 0, len(body), 0, 0, 0, 0) + body


def palette_bmp(header, bits):
    """Of 5 x 2 pixels: 12 bytes are an OS/2 header, whose colours have 3 bytes."""
    width, row = 5, (5 * bits + 31) // 32 * 4
    colours = (3 if header == 12 else 4) << bits
    sizes = struct.pack("<HHHH", width, 2, 1, bits) if header == 12 else struct.pack("<iiHH", width, -2, 1, bits)
    return struct.pack("<2sIHHII", b"BM", 0, 0, 0, 14 + header + colours, header) + sizes.ljust(header - 4, b"\0") + samples(colours) + bytes(2 * row)


def masked_bmp(header):
    masks = struct.pack("<III", 0x7E0, 0xF800, 0x1F)
    body = struct.pack("<iiHHI", 3, 2, 1, 16, 3).ljust(36, b"\0") + masks
    return struct.pack("<2sIHHII", b"BM", 0, 0, 0, max(66, 14 + header), header) + body.ljust(header - 4, b"\0") + samples(16)


def exif(order, orientation):
    return (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "IHHHIHHI", 8, 1, 0x112, 3, 1, orientation, 0, 0)


def npy(kind, shape, body, fortran=False):
    text = f"{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + body


def idx(kind, sizes, width):
    count = 1
    for size in sizes:
        count *= size
    return struct.pack(">HBB", 0, kind, len(sizes)) + b"".join(struct.pack(">I", size) for size in sizes) + samples(count * width)


def envi(kind, interleave, width, more=""):
    text = more and "; a comment\n"
    text = f"ENVI\n{text}{more}samples = 4\nlines = 3\nbands = 2\ndata type = {kind}\ninterleave = {interleave}\nbyte order = 0\nheader offset = 0\n"
    return text.encode() + b"wavelength = {400,\n 500}\n" + b"\0" + samples(24 * width)


def classifier(feature, bins, stages):
    """A model of detect."""
    stage = struct.pack("<6B2xf", 1, 0, 2, 1, 3, 8, -1.5)
    body = b"RUNGSDET" + struct.pack("<5I", 1, feature, 7, stages, bins) + stages * (stage + struct.pack("<f", 0.25) * bins)
    return body + struct.pack("<I", zlib.crc32(body))


def checkpoint(rungs, folder):
    """Of a training of one stage with the parameters in fuzz_checkpoint.c."""
    names = [os.path.join(folder, name) for name in ("faces.npy", "photograph.pgm", "a.model")]
    for name, content in zip(names, (npy("|u1", (10, 6, 6), samples(360)), b"P5 8 7 255\n" + samples(56))):
        with open(name, "wb") as file:
            file.write(content)
    settings = [word for text in ("stages=1", "samples=100", "features=12") for word in ("-p", text)]
    subprocess.run([rungs, "train", "detect", *names[:2], "-o", names[2], *settings], check=True, stdout=subprocess.DEVNULL)
    with open(names[2] + ".checkpoint", "rb") as file:
        return file.read()


def y4m(colour, width, height, frame):
    return f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 {colour}\n".encode() + 2 * (b"FRAME\n" + samples(frame))


def files(rungs):
    pictures, arrays = {}, {}
    for width, height in SIZES:
        name = f"{width}x{height}"
        pictures[f"{name}.ppm"] = f"P6\n{width} {height}\n255\n".encode() + samples(3 * width * height)
        pictures[f"{name}.pgm"] = f"P5 # text\n{width} {height} 65535\n".encode() + samples(2 * width * height)
        pictures[f"{name}.txt.pgm"] = f"P2\n{width} {height}\n255\n".encode() + b"7 " * (width * height)
        pictures[f"{name}.bmp"] = bmp(width, height)
        for kind, channels in ((0, 1), (2, 3), (3, 1), (4, 2), (6, 4)):
            pictures[f"{name}_{kind}.png"] = png(width, height, kind, channels)
        pictures[f"{name}_16.png"] = png(width, height, 2, 3, 16)
        for kind, size in (("|u1", 1), ("<u2", 2), ("<i4", 4), ("<f4", 4), (">f8", 8)):
            arrays[f"{name}{kind[1:]}.npy"] = npy(kind, (height, width), samples(size * width * height))
    for header, bits in ((12, 1), (12, 4), (12, 8), (40, 8), (64, 4), (124, 2)):
        pictures[f"{header}_{bits}.bmp"] = palette_bmp(header, bits)
    for header in (40, 56, 124):
        pictures[f"{header}.bmp"] = masked_bmp(header)
    for order in "<>":
        pictures[f"turned{order}.png"] = png(7, 5, 0, 1)[:33] + chunk(b"eXIf", exif(order, 7)) + png(7, 5, 0, 1)[33:]
    arrays["cube.npy"] = npy("|u1", (2, 3, 4), samples(24), True)
    arrays["line.npy"] = npy("<f8", (5,), samples(40))
    arrays["none.npy"] = npy("<f4", (0, 3), b"")
    with tempfile.TemporaryDirectory(prefix="rungs-corpus-") as folder:
        jpeg, ppm = os.path.join(folder, "a.jpg"), os.path.join(folder, "a.ppm")
        with open(ppm, "wb") as file:
            file.write(pictures["16x12.ppm"])
        subprocess.run([rungs, "run", "blur:cpu/serial", ppm, "-o", jpeg], check=True, stdout=subprocess.DEVNULL)
        with open(jpeg, "rb") as file:
            plain = pictures["16x12.jpg"] = file.read()
        segment = b"Exif\0\0" + exif(">", 6)
        pictures["turned.jpg"] = plain[:2] + struct.pack(">BBH", 255, 0xE1, len(segment) + 2) + segment + plain[2:]
        adobe = b"Adobe\0\144\0\0\0\0\2"
        pictures["adobe.jpg"] = plain[:2] + struct.pack(">BBH", 255, 0xEE, len(adobe) + 2) + adobe + plain[2:]
        trained = checkpoint(rungs, folder)
    with open(os.path.join(ROOT, "tests/small/invert.lut"), "rb") as file:
        model = file.read()
    with open(os.path.join(ROOT, "results/cpu2/blur/blur_1920x1080.json"), encoding="utf-8") as file:
        bench = json.load(file)
    bench["versions"] = bench["versions"][:2]
    results = {"bench.json": bench, "old.json": {name: bench[name] for name in bench if name != "kind"}}
    statistics = {"median": 2.0, "q1": 1.0, "q3": 3.0, "n": 9}
    head = {name: bench[name] for name in bench if name not in ("kind", "versions")}
    point = {"values": {"a": 1}, "outcome": "timed", "time": statistics, "default": True, "best": True}
    results["tune.json"] = head | {"kind": "tune", "tuned_version": "cpu/simd", "axes": [], "points": [point]}
    total = {"kind": "phase", "name": "a", "calls": 2, "average": 1.0, "least": 0.5, "most": 2.0}
    results["profile.json"] = head | {
        "kind": "profile", "bench": bench["versions"][0],
        "profile": {"calls": 2, "host_ranges": [total], "gpu_activities": [total]},
    }  # fmt: skip
    row = {"id": "cpu/omp", "outcome": "timed", "end_to_end": statistics, "steps": [{"name": "a", "seconds": 1.0}]}
    results["video.json"] = head | {"schema": "rungs-video-results", "frames": 9, "versions": [row]}
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        cpu = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "cpu")
    entry = {"algorithm": "blur", "version": "cpu/simd", "processor": cpu, "threads": 2, "values": {"band_height": 64, "schedule": "static"}, "date": "2026-01-01"}
    tuned = {"one.json": {"schema": "rungs-tuned", "version": 1, "entries": [entry]}}
    models = {"lut": model, "cut": model[:100], "lrd": classifier(0, 17, 2), "lbp": classifier(2, 256, 1)}
    models |= {"texture": npy("<f4", (1, 256), bytes(1024)), "barcode": npy("<f4", (2, 257), bytes(2056))}
    first = lambda group: {name: bytes([i % 4]) + body for i, (name, body) in enumerate(group.items())}  # the byte that chooses
    text = lambda group: {name: json.dumps(value).encode() for name, value in group.items()}
    return {
        "images": first(pictures | arrays),
        "npy": first(arrays),
        "arrays": first({f"{kind}": idx(kind, (2, 3, 4), width) for kind, width in ((8, 1), (9, 1), (11, 2), (12, 4), (13, 4), (14, 8))} | arrays),
        "envi": {f"{kind}_{order}": envi(kind, order, width) for kind, width in ((1, 1), (2, 2), (4, 4), (5, 8), (12, 2)) for order in ("bsq", "bil", "bip")}
        | {"bands": envi(12, "bip", 2, "bbl = {1, 0}\n"), "ignored": envi(4, "bil", 4, "data ignore value = 0\nbbl =\n{1 1}\n"), "some": envi(1, "bsq", 1, "data ignore value = 37\n")},
        "y4m": {colour or "none": y4m(colour, 8, 6, frame) for colour, frame in (("", 72), ("C420jpeg", 72), ("C422", 96), ("C444", 144), ("C411", 72), ("Cmono", 48), ("C420 XCOLORRANGE=FULL", 72))},
        "results": text(results),
        "tuned": text(tuned),
        "models": {name: b"\0" + body for name, body in models.items()},
        "boxes": {"two": b"file,xmin,ymin,xmax,ymax\na.png,1,2,30,40\nb/c.png,0,0,5,6\n", "quoted": b'\xef\xbb\xbf"file","xmin","ymin","xmax","ymax"\n"a ""b"", c.png",1,2,30,40\n', "mixed": b"ymax,kind,xmax,file,ymin,xmin\r\n9,x,8,a.png,-1,-2\r\n\r\n"},
        "checkpoint": {"one": trained, "cut": trained[:-5]},
    }


def main():
    rungs, folder = sys.argv[1:]
    for name, group in files(rungs).items():
        place = os.path.join(folder, name)
        os.makedirs(place, exist_ok=True)
        for number, body in enumerate(group.values()):
            with open(os.path.join(place, f"seed{number:03}"), "wb") as file:
                file.write(body)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The Python side of a peer in another process; common/measure/process_peer.c is the other one and starts it:

    peer.py peers/<algorithm>/<library>.py          answers requests until its input ends
    peer.py --probe peers/<algorithm>/<library>.py ...  says for each in a line what is missing, importing nothing; empty: all is here

A peer's file is a module with

    LIBRARY = "cv2"                what to import, PACKAGE = "opencv-python" what to install
    def setup(library, case):      once for each state: shapes and parameters stay. Gives back a function
        def run(inputs, outputs):  the call that is timed, on numpy arrays in memory that both processes see

`case` has threads, params (a dict) and, for each slot, inputs and outputs: arrays of height x width (x channels when there
is more than one). run() writes into `outputs` or returns the arrays; what it returns is copied after the clock has
stopped. A function normalise(inputs, outputs) of the module puts results into the contract's words and is not timed. When
setup() gives back an object instead of a function: its run is called, its start(inputs) on a pipeline's first frame, and
its device_seconds, unless it is None, is how long the last call kept a GPU busy, and its finish(outputs) writes, off the
clock, what the library gives in another form.

A function missing() of the module, which imports nothing big, says what else is not here (a file of data), or None.

Messages are a length (4 bytes, little endian) and JSON; an answer repeats the number of its request, so that a second
answer, from a child that a library forked and forgot, is not taken for that to the next request. Raise Missing where the library is here but cannot work.
"""

import ctypes
import importlib
import importlib.util
import json
import mmap
import os
import signal
import struct
import sys
import time
import traceback

PR_SET_PDEATHSIG = 1


class Missing(Exception):
    """The peer cannot run on this machine, for a reason worth a line."""


class Case:
    pass


def load(path):
    """The peer's file as a module; it imports nothing big by itself."""
    spec = importlib.util.spec_from_file_location("rungs_peer", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["peer"] = sys.modules[__name__]  # `import peer` in a peer's file means this one
    spec.loader.exec_module(module)
    return module


def missing(module):
    for name, package in (("numpy", "numpy"), (module.LIBRARY.split(".")[0], module.PACKAGE)):
        if importlib.util.find_spec(name) is None:
            return f"{package} is not installed: pip install {package}"
    return module.missing() if hasattr(module, "missing") else None


def view(memory, slot):
    import numpy

    if slot["shape"] is None:
        return None
    count = 1
    for side in slot["shape"]:
        count *= side
    array = numpy.frombuffer(memory, slot["type"], count, slot["offset"])
    return array.reshape(slot["shape"])


class Server:
    def __init__(self, path):
        self.module = load(path)
        self.worker = None

    def open(self, request):
        reason = missing(self.module)
        if reason:
            raise Missing(reason)
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
            os.environ[name] = str(request["threads"])
        library = importlib.import_module(self.module.LIBRARY)
        self.memory = mmap.mmap(request["memory"], request["bytes"])
        self.case = Case()
        self.case.threads, self.case.params = request["threads"], request["params"]
        self.case.inputs = [view(self.memory, slot) for slot in request["inputs"]]
        self.case.outputs = [view(self.memory, slot) for slot in request["outputs"]]
        self.worker = self.module.setup(library, self.case)
        return {"library": f"{self.module.PACKAGE} {getattr(library, '__version__', '')}".strip()}

    def start(self, _):
        begin = time.perf_counter()
        self.worker.start(self.case.inputs)
        return {"seconds": time.perf_counter() - begin}

    def run(self, _):
        import numpy

        function = getattr(self.worker, "run", self.worker)
        begin = time.perf_counter()
        results = function(self.case.inputs, self.case.outputs)
        seconds = time.perf_counter() - begin
        if results is not None:
            results = results if isinstance(results, (list, tuple)) else [results]
            targets = [target for target in self.case.outputs if target is not None]  # the others are absent
            for target, result in zip(targets, results, strict=True):
                if not numpy.shares_memory(target, result):
                    if target.shape != result.shape:
                        raise ValueError(f"a result of shape {result.shape}, not {target.shape}")
                    target[...] = result
        if hasattr(self.worker, "finish"):
            self.worker.finish(self.case.outputs)
        if hasattr(self.module, "normalise"):
            self.module.normalise(self.case.inputs, self.case.outputs)
        return {"seconds": seconds, "device_seconds": getattr(self.worker, "device_seconds", None)}

    def answer(self, request):
        try:
            return {"open": self.open, "start": self.start, "run": self.run}[request["ask"]](request)
        except Missing as error:
            return {"missing": str(error)}
        except Exception as error:  # of the library, whatever it is
            place = traceback.extract_tb(error.__traceback__)[-1]
            text = " ".join(str(error).split())
            return {"error": f"{type(error).__name__}: {text} ({os.path.basename(place.filename)}:{place.lineno})"}


def read(stream, count):
    data = stream.read(count)
    if len(data) < count:
        sys.exit(0)
    return data


def main():
    if sys.argv[1] == "--probe":
        for path in sys.argv[2:]:
            try:
                print(missing(load(path)) or "")
            except Exception:  # a fault of that file, which running it reports
                print()
        return
    # Dies with the process that it works for, also in the middle of a call.
    parent = os.getppid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(1)
    # What a library prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    server = Server(sys.argv[1])
    while True:
        (length,) = struct.unpack("<I", read(sys.stdin.buffer, 4))
        request = json.loads(read(sys.stdin.buffer, length))
        answer = json.dumps({**server.answer(request), "number": request["number"]}).encode()
        answers.write(struct.pack("<I", len(answer)) + answer)
        answers.flush()


if __name__ == "__main__":
    main()

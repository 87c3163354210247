"""What CuPy's peers share: a call on the device's arrays, timed by CUDA events, and the way there and back."""

from peer import Missing


class OnGpu:
    """prepare(cupy) gives back the call: of input 0 on the device, whose result goes to output 0."""

    def __init__(self, prepare):
        import cupy

        try:
            self.begin, self.end = cupy.cuda.Event(), cupy.cuda.Event()
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise Missing(f"CuPy finds no GPU: {error}") from None
        self.cupy, self.call, self.device_seconds = cupy, prepare(cupy), None

    def run(self, inputs, outputs):
        source = self.cupy.asarray(inputs[0])
        self.begin.record()
        result = self.call(source)
        self.end.record()
        result.get(out=outputs[0])
        self.device_seconds = 1e-3 * self.cupy.cuda.get_elapsed_time(self.begin, self.end)

"""
Idea:     the detector as users of OpenCV's Python package write it: eight calls a frame, from the frame to the table.
Changed:  not ours; it gets the same frames and as many threads, and keeps the memory of its pictures from frame to frame.
Expect:   as fast as peer/opencv of the same release: eight calls from Python cost 20 us a frame.
"""

LIBRARY, PACKAGE = "cv2", "opencv-python"
OTSU = -1  # motion.h


class Detector:
    def __init__(self, cv2, case):
        import numpy

        params = case.params
        cv2.setNumThreads(case.threads)
        self.cv2, self.numpy, self.params = cv2, numpy, params
        shape = case.inputs[0].shape[:2]
        names = ("gray", "blurred", "background", "difference", "mask", "closed", "opened")
        self.pictures = {name: numpy.empty(shape, numpy.uint8) for name in names}
        self.labels = numpy.empty(shape, numpy.int32)
        form = cv2.MORPH_ELLIPSE if params["shape"] == "disk" else cv2.MORPH_RECT
        self.element = cv2.getStructuringElement(form, (params["disk"],) * 2)
        self.kind = cv2.THRESH_BINARY | (cv2.THRESH_OTSU if params["value"] == OTSU else 0)

    def blur(self, frame, name):
        cv2, size = self.cv2, (self.params["ksize"],) * 2
        cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY, dst=self.pictures["gray"])
        cv2.GaussianBlur(self.pictures["gray"], size, self.params["sigma"], dst=self.pictures[name],
                         borderType=cv2.BORDER_REPLICATE)  # fmt: skip

    def start(self, inputs):
        self.blur(inputs[0], "background")
        if self.params["background"] == "mean":
            self.mean = self.pictures["background"].astype(self.numpy.int32) << 8

    def follow(self):
        """The running mean of common/algo/motion.h by numpy: OpenCV's own is in floating point, and another one."""
        blurred = self.pictures["blurred"].astype(self.numpy.int32) << 8
        self.mean += (blurred - self.mean) >> self.params["rate"]
        self.pictures["background"][...] = (self.mean + 128) >> 8

    def run(self, inputs, outputs):
        cv2, pictures = self.cv2, self.pictures
        self.blur(inputs[1], "blurred")
        cv2.absdiff(pictures["blurred"], pictures["background"], dst=pictures["difference"])
        cv2.threshold(pictures["difference"], self.params["value"], 255, self.kind, dst=pictures["mask"])
        cv2.morphologyEx(pictures["mask"], cv2.MORPH_CLOSE, self.element, dst=pictures["closed"])
        mask = pictures["closed"]
        if self.params["ops"] == "close_open":
            mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, self.element, dst=pictures["opened"])
        _, labels, stats, centroids = cv2.connectedComponentsWithStats(
            mask, labels=self.labels, connectivity=self.params["connectivity"], ltype=cv2.CV_32S)  # fmt: skip
        self.found = labels, stats[1:], centroids[1:]
        if self.params["background"] == "mean":
            self.follow()

    def finish(self, outputs):
        self.write(*self.found, outputs[0])

    def write(self, labels, stats, centroids, table):
        """The table of common/algo/boxes.h: rows in the order of their components' first pixels."""
        width, numpy = labels.shape[1], self.numpy
        rows = [
            (int(top) * width + int(left) + int(numpy.argmax(labels[top, left : left + wide] == index)) + 1, index - 1)
            for index, (left, top, wide, _, area) in enumerate(stats, 1)
            if area >= self.params["min_area"]
        ]
        table[...] = 0
        table[0, 0] = len(rows)
        for row, (first, index) in zip(table[1:], sorted(rows)):
            row[0] = first
            row[1:6] = stats[index]
            row[6:8] = numpy.floor(256 * centroids[index] + 0.5)


setup = Detector

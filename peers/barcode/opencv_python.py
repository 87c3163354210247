"""
Idea:     what a programmer types: cv2.barcode.BarcodeDetector, which looks for areas of parallel gradients on several scales.
Changed:  not ours. It finds oriented boxes; here are the upright ones around them. It has no score of patches, and its boxes are
          others than ours: any result passes, and only the time counts. studies/barcode_score.py compares what they find.
Expect:   10 times the time of cpu/simd with as many threads: it works on a picture of at most 512 pixels a side, but gradients,
          integrals and dilations there are in f32.
"""
LIBRARY, PACKAGE = "cv2.barcode", "opencv-contrib-python"
TOLERANCE = 1e300


def setup(barcode, case):
    import cv2

    cv2.setNumThreads(case.threads)
    detector = barcode.BarcodeDetector()

    def run(inputs, outputs):
        gray = inputs[0] if inputs[0].ndim == 2 else cv2.cvtColor(inputs[0], cv2.COLOR_RGB2GRAY)
        found, corners = getattr(detector, "detectMulti", detector.detect)(gray)
        table, score = outputs
        table[...], score[...] = 0, 0
        boxes = corners.reshape(-1, 4, 2) if found else []
        table[0, 0] = len(boxes)
        for row, box in zip(table[1:], boxes):
            low, high = box.min(axis=0), box.max(axis=0)
            row[:] = (*low, *(high - low))

    return run

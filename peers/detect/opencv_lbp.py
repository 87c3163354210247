"""
Idea:     the yardstick: OpenCV's CascadeClassifier with lbpcascade_frontalface: 139 LBP features in 20 stages, over an
          integral image.
Changed:  not ours: another classifier, with other detections and no list of hits, so that any result passes and only the time
          counts. cpu/detect/opencv_cascade.py and score.py compare its accuracy with ours on the same pictures.
Expect:   faster than cpu/serial: some two features a window, and every other position of the small scales is skipped.
"""
import cascade

LIBRARY, PACKAGE = "cv2", "'opencv-python<5'"
TOLERANCE = 1e300
CASCADE = "lbpcascades/lbpcascade_frontalface.xml"


def missing():
    return cascade.missing(CASCADE)


def setup(cv2, case):
    return cascade.setup(cv2, case, CASCADE)

"""
Idea:     the yardstick of most papers: OpenCV's CascadeClassifier with haarcascade_frontalface_alt, 2,135 Haar features.
Changed:  not ours: another classifier, with other detections and no list of hits, so that any result passes and only the time
          counts. cpu/detect/opencv_cascade.py and score.py compare its accuracy with ours on the same pictures.
Expect:   2.5 times as long as peer/opencv_lbp: each window's contrast is normalised, and features are sums of floats.
"""
import cascade

LIBRARY, PACKAGE = "cv2", "'opencv-python<5'"
TOLERANCE = 1e300
CASCADE = "haarcascades/haarcascade_frontalface_alt.xml"


def missing():
    return cascade.missing(CASCADE)


def setup(cv2, case):
    return cascade.setup(cv2, case, CASCADE)

"""What the peers of detect share: OpenCV's CascadeClassifier with one of the cascades that come with it."""
import pathlib

from peer import Missing

FOLDERS = ("/usr/share/opencv4", "/usr/share/opencv", "/usr/local/share/opencv4")  # of the package opencv-data


def find(cv2, kind, name):
    folders = [pathlib.Path(folder) / kind for folder in FOLDERS]
    if hasattr(cv2, "data"):  # the package of PyPI has the haarcascades
        folders.append(pathlib.Path(cv2.data.haarcascades))
    for folder in folders:
        if (folder / name).is_file():
            return str(folder / name)
    raise Missing(f"{name} is not here: apt-get install opencv-data")


def setup(cv2, case, kind, name):
    """A function that fills both tables: boxes with the number of windows as their score, and no hits, which OpenCV does
    not give."""
    if not hasattr(cv2, "CascadeClassifier"):
        raise Missing(f"OpenCV {cv2.__version__} has no CascadeClassifier: pip install 'opencv-python<5'")
    cv2.setNumThreads(case.threads)
    cascade = cv2.CascadeClassifier(find(cv2, kind, name))
    if cascade.empty():
        raise Missing(f"{name}: not a cascade for OpenCV {cv2.__version__}")
    scale, neighbours = float(case.params["scale"]), int(case.params["neighbours"])

    def run(inputs, outputs):
        detections, hits = outputs
        boxes, counts = cascade.detectMultiScale2(inputs[0], scale, neighbours)
        found = min(len(boxes), len(detections) - 1)
        detections[...] = 0
        hits[...] = 0
        detections[0, 0] = found
        if found:
            detections[1 : found + 1, :4] = boxes[:found]
            detections[1 : found + 1, 4] = counts[:found].reshape(-1)

    return run

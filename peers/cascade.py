"""What the peers of detect share: OpenCV's CascadeClassifier with one of the cascades that come with it."""
import importlib.metadata
import importlib.util
import pathlib

FOLDERS = ("/usr/share/opencv4", "/usr/share/opencv", "/usr/local/share/opencv4")  # of the package opencv-data


def find(path):
    """The file of a cascade, "haarcascades/x.xml", or None. The packages of PyPI have the haarcascades."""
    files = [pathlib.Path(folder) / path for folder in FOLDERS]
    files.append(pathlib.Path(importlib.util.find_spec("cv2").origin).parent / "data" / pathlib.Path(path).name)
    return next((str(file) for file in files if file.is_file()), None)


def missing(path):
    for package in ("opencv-python", "opencv-python-headless"):
        try:
            if int(importlib.metadata.version(package).split(".")[0]) >= 5:
                return f"{package} 5 has no CascadeClassifier: pip install '{package}<5'"
        except importlib.metadata.PackageNotFoundError:
            continue
    return None if find(path) else f"{path} is not here: apt-get install opencv-data"


def setup(cv2, case, path):
    """A function that fills both tables: boxes with the number of windows as their score, and no hits, which OpenCV does
    not give."""
    cv2.setNumThreads(case.threads)
    cascade = cv2.CascadeClassifier(find(path))
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

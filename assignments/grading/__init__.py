"""What assignments/labs.py is made of: reading a lab, building, measuring, grading, showing, handing out."""

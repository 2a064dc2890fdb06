"""Parts of a release besides the code: licences of all parts, and a bill of materials.

No part of the wheel.
"""

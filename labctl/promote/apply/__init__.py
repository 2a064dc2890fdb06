"""Carrying out a plan, inspecting a promoted lab, and removing it again."""

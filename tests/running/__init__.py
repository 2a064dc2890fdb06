"""pytest plugins by which this project runs its own tests: suites, workers, time, second tries."""

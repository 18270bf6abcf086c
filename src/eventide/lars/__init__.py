"""LARS programs: read, analysed, evaluated over streams; by columns, by answer sets, or with truth maintenance."""

window.BENCHMARK_DATA = {
  "lastUpdate": 1704200000000,
  "repoUrl": "https://github.com/example/project",
  "entries": {
    "Rust Benchmark": [
      {
        "commit": {
          "author": {"email": "a@example.org", "name": "A"},
          "id": "5a1b",
          "message": "First",
          "timestamp": "2024-01-01T10:00:00+01:00",
          "url": "https://github.com/example/project/commit/5a1b"
        },
        "date": 1704100000000,
        "tool": "cargo",
        "benches": [
          {"name": "bench_sort", "value": 135, "range": "± 24", "unit": "ns/iter"},
          {"name": "bench_load", "value": 18149, "range": "± 755", "unit": "ns/iter"}
        ]
      },
      {
        "commit": {"id": "6b2c", "message": "Second", "timestamp": "2024-01-02T10:00:00+01:00"},
        "date": 1704200000000,
        "tool": "cargo",
        "benches": [{"name": "bench_sort", "value": 149, "range": "± 12", "unit": "ns/iter"}]
      }
    ],
    "Python": [
      {
        "commit": {"id": "6b2c", "message": "Second", "timestamp": "2024-01-02T10:00:00+01:00"},
        "date": 1704200000000,
        "tool": "pytest",
        "benches": [{"name": "test_fib", "value": 41513.2, "range": "stddev: 0.0000081", "unit": "iter/sec"}]
      }
    ]
  }
}

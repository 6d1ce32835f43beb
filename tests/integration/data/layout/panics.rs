// Panics that are caught, threads, thread-local variables, hash tables and calls through pointers.
use std::collections::HashMap;
use std::panic;
use std::thread;
use std::time::{Duration,Instant};
thread_local!{ static COUNT: std::cell::RefCell<u64> = std::cell::RefCell::new(0); }
fn fib(n: u64) -> u64 { if n < 2 { n } else { fib(n-1)+fib(n-2) } }
trait Shape { fn area(&self) -> f64; }
struct Sq(f64); struct Ci(f64);
impl Shape for Sq { fn area(&self)->f64 { self.0*self.0 } }
impl Shape for Ci { fn area(&self)->f64 { self.0*self.0*3.14 } }
fn throws(n: u64) -> Result<u64, String> { if n % 7 == 3 { panic!("odd {}", n) } Ok(n) }
fn main() {
    let size: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    panic::set_hook(Box::new(|_| {}));
    let hs: Vec<_> = (0..4).map(|t| thread::spawn(move || {
        let start = Instant::now(); let mut caught = 0u64; let mut sum = 0u64; let mut i=0;
        while start.elapsed() < Duration::from_millis(50 * size) {
            for k in 0..1000u64 { if panic::catch_unwind(|| throws(k).unwrap()).is_err() { caught += 1; } }
            let mut m = HashMap::new();
            for k in 0..1000u64 { *m.entry(k % 97).or_insert(0) += k; }
            sum = m.values().sum::<u64>();
            COUNT.with(|c| *c.borrow_mut() += 1);
            let v: Vec<Box<dyn Shape>> = vec![Box::new(Sq(2.0)), Box::new(Ci(1.0))];
            sum += v.iter().map(|s| s.area()).sum::<f64>() as u64; i+=1;
        }
        assert_eq!(caught, 143*i);
        (t, sum)
    })).collect();
    for h in hs { println!("{:?}", h.join().unwrap()); }
    println!("{}", fib(32));
}

; The work of the recipe: what scripts do, a little of each. The last lines are the checksums.
; It is read together with input.scm, which says how many `rounds` and has a list of `numbers`.

(define modulus 1000003)

(define (checksum sum value) (modulo (+ (* 31 sum) value) modulus))

(define (fold step state items)
  (if (null? items) state (fold step (step state (car items)) (cdr items))))

; Deep recursion: not one of these calls is a tail call.
(define (deep n) (if (= n 0) 0 (+ 1 (deep (- n 1)))))

(define (fibonacci n) (if (< n 2) n (+ (fibonacci (- n 1)) (fibonacci (- n 2)))))

(define (takeuchi x y z)
  (if (not (< y x))
      z
      (takeuchi (takeuchi (- x 1) y z) (takeuchi (- y 1) z x) (takeuchi (- z 1) x y))))

; Merge sort of lists.
(define (merge one other)
  (cond ((null? one) other)
        ((null? other) one)
        ((< (car one) (car other)) (cons (car one) (merge (cdr one) other)))
        (else (cons (car other) (merge one (cdr other))))))

(define (split items)
  (if (or (null? items) (null? (cdr items)))
      (cons items '())
      (let ((rest (split (cddr items))))
        (cons (cons (car items) (car rest)) (cons (cadr items) (cdr rest))))))

(define (sorted items)
  (if (or (null? items) (null? (cdr items)))
      items
      (let ((halves (split items)))
        (merge (sorted (car halves)) (sorted (cdr halves))))))

; The queens that do not attack one another, left by a continuation at the first full board.
(define (safe? row distance placed)
  (or (null? placed)
      (and (not (= (car placed) row))
           (not (= (abs (- (car placed) row)) distance))
           (safe? row (+ distance 1) (cdr placed)))))

(define (queens size)
  (call-with-current-continuation
    (lambda (found)
      (define (place column placed)
        (if (= column size)
            (found placed)
            (try 0 column placed)))
      (define (try row column placed)
        (if (< row size)
            (begin
              (if (safe? row 1 placed) (place (+ column 1) (cons row placed)))
              (try (+ row 1) column placed))))
      (place 0 '()))))

; An interpreter of arithmetic and functions, in the interpreter.
(define (value-of form scope)
  (cond ((number? form) form)
        ((symbol? form) (cdr (assq form scope)))
        ((eq? (car form) 'when)
         (if (< 0 (value-of (cadr form) scope))
             (value-of (caddr form) scope)
             (value-of (cadddr form) scope)))
        ((eq? (car form) 'with)
         (value-of (cadddr form)
                   (cons (cons (cadr form) (value-of (caddr form) scope)) scope)))
        ((eq? (car form) 'call)
         (let ((function (cdr (assq (cadr form) scope))))
           (value-of (cdr function)
                     (cons (cons (car function) (value-of (caddr form) scope)) scope))))
        ((eq? (car form) 'add) (+ (value-of (cadr form) scope) (value-of (caddr form) scope)))
        (else (- (value-of (cadr form) scope) (value-of (caddr form) scope)))))

(define program
  '(when n (add n (with m (sub n 1) (add (call triangle (sub m 1)) 1))) 0))

(define (interpreted n)
  (value-of '(call triangle n) (list (cons 'n n) (cons 'triangle (cons 'n program)))))

(define (once)
  (list (deep 3000)
        (fibonacci 12)
        (takeuchi 8 4 2)
        (fold checksum 7 (sorted numbers))
        (fold checksum 7 (queens 6))
        (interpreted 60)))

(define (repeat n total)
  (if (= n 0)
      total
      (let ((sums (once)))
        (set! numbers (cons (modulo (+ n (car numbers)) 1000) (cdr numbers)))
        (display sums)
        (newline)
        (repeat (- n 1) (fold checksum total sums)))))

(display (repeat rounds 0))
(newline)

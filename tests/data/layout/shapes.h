/* What the parts of the test program offer one another. */
int circle(int radius);
int circle_twice(int radius);
int square(int side);
int square_twice(int side);
int first_of(int a, int b);
int second_of(int a, int b);

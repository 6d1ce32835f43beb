/**
 * Mytkowicz (2010), listing 3.1: nearly all of the time passes in `hot`, which has neither a call nor
 * a loop, so that the virtual machine never stops in it. A profiler that looks only where the virtual
 * machine stops sees `cold` instead.
 *
 * <p>Run it with {@code java YieldPoints.java} or compile it first; the argument is the number of
 * calls, in millions (2000 unless given).
 */
public final class YieldPoints {
    static int[] array = new int[1024];

    public static void hot(int i) {
        int ii = (i + 10 * 100) % array.length;
        int jj = (ii + i / 33) % array.length;
        if (ii < 0) ii = -ii;
        if (jj < 0) jj = -jj;
        array[ii] = array[jj] + 1;
    }

    public static void cold(int calls) {
        for (int i = 0; i < calls; i++) {
            hot(i);
        }
    }

    public static void main(String[] words) {
        int millions = words.length == 0 ? 2000 : Integer.parseInt(words[0]);
        cold(millions * 1_000_000);
        System.out.println(array[0]);
    }
}

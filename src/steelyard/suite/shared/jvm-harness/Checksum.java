/** A 64-bit checksum of what an iteration computed (FNV-1a over 64-bit words, with a final mix). */
public final class Checksum {
    private static final long OFFSET = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;

    private long state = OFFSET;

    public void add(long value) {
        state = (state ^ value) * PRIME;
        state ^= state >>> 29;
    }

    public void add(double value) {
        add(Double.doubleToLongBits(value));
    }

    public void add(CharSequence text) {
        for (int i = 0; i < text.length(); i++) {
            add(text.charAt(i));
        }
        add(text.length());
    }

    public void add(byte[] bytes, int length) {
        for (int i = 0; i < length; i++) {
            add(bytes[i]);
        }
        add(length);
    }

    /** What MurmurHash3 mixes with at its end, so that each bit depends on all that was added. */
    public long value() {
        long mixed = state;
        mixed = (mixed ^ (mixed >>> 33)) * 0xff51afd7ed558ccdL;
        mixed = (mixed ^ (mixed >>> 33)) * 0xc4ceb9fe1a85ec53L;
        return mixed ^ (mixed >>> 33);
    }
}

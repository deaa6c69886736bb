/**
 * So much the other side may send ahead, on a connection and in each of its calls. With the 64 KiB of HTTP/2 it would have to wait
 * after every second piece of a body. What a reader does not take is kept, so this is also what one that has paused costs. Bytes.
 */
export const WINDOW = 256 * 2 ** 10

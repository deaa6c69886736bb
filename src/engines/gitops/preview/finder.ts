/** Many texts to be found in others. */
interface Finder {
  /** Where any of them stands, in their order. What overlaps or touches is one span. */
  find(text: string, cut?: Cut): TextRange[]
}

/** Where a text was shortened. What ends there counts too if it is the beginning of one of them with so many characters. */
export interface Cut {
  at: number
  least: number
}

/** From one index to before another. */
export type TextRange = readonly [from: number, to: number]

/**
 * Looks for all of them in one pass (Aho and Corasick): however many they are, and however much they have in common, a text takes
 * time in proportion to its own length. None of them is empty.
 */
export function createFinder(texts: readonly string[]): Finder {
  const { childOf, depths, longest, fallbacks } = treeOf(texts)
  return {
    find(text, cut) {
      const ranges: TextRange[] = []
      let node = 0
      for (let at = 0; at < text.length; at++) {
        const character = text.charCodeAt(at)
        let next = childOf(node, character)
        while (next === 0 && node !== 0) {
          node = fallbacks[node] ?? 0
          next = childOf(node, character)
        }
        node = next
        const end = at + 1
        const depth = depths[node] ?? 0
        const length = cut?.at === end && depth >= cut.least ? depth : (longest[node] ?? 0)
        if (length > 0) add(ranges, end - length, end)
      }
      return ranges
    },
  }
}

/** The ranges come in the order of their ends; a long one may contain what came before it. */
function add(ranges: TextRange[], from: number, to: number): void {
  let begin = from
  for (let last = ranges.at(-1); last && last[1] >= from; last = ranges.at(-1)) {
    begin = Math.min(begin, last[0])
    ranges.pop()
  }
  ranges.push([begin, to])
}

/** Their beginnings, each a node by its number; 0 is the empty one. */
interface Tree {
  /** 0 where there is none. */
  childOf(node: number, character: number): number
  depths: Int32Array
  /** Of the texts that end with the beginning, the length of the longest. */
  longest: Int32Array
  /** The longest other beginning that it ends with. */
  fallbacks: Int32Array
}

/**
 * The nodes stand in the order of their depth, those with the same parent side by side by their character. Typed arrays hold one in
 * 22 bytes; with an object for each, a megabyte of secrets would take a hundred.
 */
function treeOf(texts: readonly string[]): Tree {
  // In this order, texts with the same beginning stand together, and what is nothing but that beginning comes first.
  const sorted = [...new Set(texts)].sort()
  const most = sorted.reduce((sum, { length }) => sum + length, 1)
  const firsts = new Int32Array(most + 1)
  const characters = new Uint16Array(most)
  const depths = new Int32Array(most)
  const longest = new Int32Array(most)
  const fallbacks = new Int32Array(most)
  /** Which of the sorted texts have that beginning. */
  const [from, to] = [new Int32Array(most), new Int32Array(most)]

  const childOf = (node: number, character: number): number => {
    let low = firsts[node] ?? 0
    let high = firsts[node + 1] ?? 0
    while (low < high) {
      const middle = (low + high) >>> 1
      const found = characters[middle] ?? 0
      if (found === character) return middle
      if (found < character) low = middle + 1
      else high = middle
    }
    return 0
  }
  const fallbackOf = (parent: number, character: number): number => {
    for (let node = parent; node !== 0; ) {
      node = fallbacks[node] ?? 0
      const child = childOf(node, character)
      if (child !== 0) return child
    }
    return 0
  }

  to[0] = sorted.length
  let size = 1
  for (let node = 0; node < size; node++) {
    const depth = depths[node] ?? 0
    const end = to[node] ?? 0
    let text = from[node] ?? 0
    if (sorted[text]?.length === depth) text++
    firsts[node] = size
    while (text < end) {
      const begin = text
      const character = sorted[text]?.charCodeAt(depth) ?? 0
      while (text < end && sorted[text]?.charCodeAt(depth) === character) text++
      const fallback = fallbackOf(node, character)
      characters[size] = character
      depths[size] = depth + 1
      fallbacks[size] = fallback
      longest[size] = sorted[begin]?.length === depth + 1 ? depth + 1 : (longest[fallback] ?? 0)
      from[size] = begin
      to[size] = text
      size++
    }
  }
  firsts[size] = size
  return { childOf, depths, longest, fallbacks }
}

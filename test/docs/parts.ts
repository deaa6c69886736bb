import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import GithubSlugger from 'github-slugger'

const ROOT = join(import.meta.dirname, '..', '..')

/** What stands under one heading of a page, up to the next. */
export interface Part {
  /** As links name it, such as `docs/targets.md#claim-a-namespace`. */
  id: string
  blocks: readonly Block[]
}

export interface Block {
  /** The first word after the fence, such as `sh`. */
  language: string
  text: string
}

/** The blocks of one language in the text of a page. */
export const blocksOf = (text: string, language: string): string[] =>
  blocksIn({ blocks: piecesIn(text).filter((piece) => typeof piece !== 'string') }, language)

/** The parts of a page, in the order in which one reads them. */
export function partsOf(page: string): Part[] {
  const slugger = new GithubSlugger()
  const parts: { id: string; blocks: Block[] }[] = []
  for (const piece of piecesIn(readFileSync(join(ROOT, page), 'utf8')))
    if (typeof piece === 'string') parts.push({ id: `${page}#${slugger.slug(piece)}`, blocks: [] })
    else parts.at(-1)?.blocks.push(piece)
  return parts
}

/** Headings and blocks. */
const piecesIn = (text: string): (string | Block)[] =>
  Array.from(
    text.matchAll(/^#+ (.+)$|^( *)```(\w*)[^\n]*\n([\s\S]*?)^\2```/gm),
    ([, heading, indent = '', language = '', block = '']) => heading ?? { language, text: withoutIndent(block, indent) },
  )

const withoutIndent = (text: string, indent: string): string =>
  text
    .split('\n')
    .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    .join('\n')

/** One of them; there has to be exactly one. */
export function partOf(id: string): Part {
  const [page = ''] = id.split('#')
  const [part, ...others] = partsOf(page).filter((each) => each.id === id)
  if (part === undefined || others.length > 0) throw new Error(`there is no part ${id}`)
  return part
}

export const blocksIn = ({ blocks }: Pick<Part, 'blocks'>, language: string): string[] =>
  blocks.filter((block) => block.language === language).map(({ text }) => text)

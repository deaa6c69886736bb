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

/** The parts of a page, in the order in which one reads them. */
export function partsOf(page: string): Part[] {
  const slugger = new GithubSlugger()
  const parts: { id: string; blocks: Block[] }[] = []
  const pieces = readFileSync(join(ROOT, page), 'utf8').matchAll(/^#+ (.+)$|^( *)```(\w*)[^\n]*\n([\s\S]*?)^\2```/gm)
  for (const [, heading, indent = '', language = '', text = ''] of pieces)
    if (heading === undefined) parts.at(-1)?.blocks.push({ language, text: withoutIndent(text, indent) })
    else parts.push({ id: `${page}#${slugger.slug(heading)}`, blocks: [] })
  return parts
}

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

export const blocksIn = (part: Part, language: string): string[] =>
  part.blocks.filter((block) => block.language === language).map(({ text }) => text)

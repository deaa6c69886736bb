import { LineCounter, parseAllDocuments, type Tags } from 'yaml'

export interface YamlDocument {
  /** Line on which the document begins, from 1. */
  line: number
  value: unknown
}

export interface YamlProblem {
  line: number
  column: number
  message: string
}

export type YamlText = { documents: YamlDocument[]; problem?: undefined } | { problem: YamlProblem; documents?: undefined }

/** An alias may stand for much; more expansions than this are an attack. */
const MAX_ALIASES = 100

/**
 * Several documents in one text, read as Kubernetes' own tools do: YAML 1.1 without base-60 numbers and dates, so that
 * `0644` is octal, `on` is true, and `22:22` and `2024-01-01` stay texts. Documents without content are left out.
 * Problems never quote the text: it may hold secrets.
 */
export function parseYaml(text: string): YamlText {
  const lines = new LineCounter()
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const parsed = parseAllDocuments(text, {
    schema: 'yaml-1.1',
    customTags: likeKubernetes,
    lineCounter: lines,
    prettyErrors: false,
  })
  const documents: YamlDocument[] = []
  for (const document of Array.isArray(parsed) ? parsed : []) {
    const [error] = document.errors
    if (error) return { problem: { ...at(error.pos[0]), message: error.message } }
    const begin = at(document.contents?.range?.[0] ?? 0)
    try {
      const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES })
      if (value !== null && value !== undefined) documents.push({ line: begin.line, value })
    } catch {
      return { problem: { ...begin, message: 'An alias leads nowhere or expands to too much' } }
    }
  }
  return { documents }
}

const likeKubernetes = (tags: Tags): Tags =>
  tags.filter((tag) => typeof tag === 'string' || (tag.format !== 'TIME' && !tag.tag.endsWith(':timestamp')))

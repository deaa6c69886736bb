import { Failure } from '../../std/index.ts'

/** Shorter values would take words out of a sentence that are none of theirs: of those only what is quoted is masked. */
const LEAST_MASKED = 4

const MASK = '***'

/** An API server may say a value again that it does not like: as it is, quoted, line by line, or its beginning before a cut. */
export function masked({ code, message, remedy, cause, reason }: Failure, values: readonly string[]): Failure {
  // The longest first: a value may be the beginning of another one.
  const forms = [...new Set(values.flatMap(formsOf))].toSorted((a, b) => b.length - a.length)
  const without = (said: string) => {
    const parts = forms.reduce(withoutForm, said).split('…')
    return parts.map((part, at) => (at + 1 < parts.length ? withoutCutForm(part, forms) : part)).join('…')
  }
  return new Failure(code, without(message), {
    cause,
    ...(reason && { reason }),
    ...(remedy !== undefined && { remedy: without(remedy) }),
  })
}

function formsOf(value: string): string[] {
  const lines = [value, ...value.split('\n').map((line) => line.trim())]
  return lines.flatMap((line) => [line, jsonOf(line), goOf(line)]).filter((form) => form !== '')
}

const jsonOf = (value: string): string => JSON.stringify(value).slice(1, -1)

const GO_LETTERS: Record<string, string> = { '0007': '\\a', '000b': '\\v' }

/** As Go quotes a text: as JSON does, but for control characters. */
const goOf = (value: string): string =>
  jsonOf(value)
    .replaceAll('\u007f', '\\x7f')
    .replace(/\\u(00[01][0-9a-f])/g, (_, digits: string) => GO_LETTERS[digits] ?? `\\x${digits.slice(2)}`)

function withoutForm(said: string, form: string): string {
  if (form.length >= LEAST_MASKED) return said.replaceAll(form, MASK)
  return ['"', "'", '`'].reduce((rest, mark) => rest.replaceAll(`${mark}${form}${mark}`, `${mark}${MASK}${mark}`), said)
}

/** What stands before the mark of a cut, without the beginning of a value at its end. */
function withoutCutForm(said: string, forms: readonly string[]): string {
  for (const form of forms)
    for (let length = Math.min(form.length, said.length); length >= LEAST_MASKED; length--)
      if (said.endsWith(form.slice(0, length))) return said.slice(0, said.length - length) + MASK
  return said
}

import { type Fields, type ValuesOf, valuesFrom } from './fields.ts'

/** What a tool says. */
export interface ToolAnswer {
  /** For programs; the text is the same where there is no other. */
  data?: Record<string, unknown>
  /** For people and models, one after the other, and as they are: whoever has the words of others in them made them harmless. */
  texts?: readonly string[]
  /** It was done, and came out as it should not. */
  hasFailed?: boolean
}

/** One call of a tool. */
export interface ToolCall {
  /** Aborted when the client takes the call back, or is gone. */
  readonly signal: AbortSignal
  /** Tells the client how it goes, where it wants to know. */
  progress(message: string): void
}

export interface McpTool {
  name: string
  title: string
  description: string
  /** What it does to what is there. Clients ask people before a change. */
  effect: 'reads' | 'changes' | 'destroys'
  fields: Fields
  /** What is wrong with these arguments; or the call, to be made. */
  prepare(given: unknown): { wrong: string[] } | { run: (call: ToolCall) => Promise<ToolAnswer> }
}

interface Definition<Wanted extends Fields> extends Pick<McpTool, 'name' | 'title' | 'description' | 'effect'> {
  fields: Wanted
  run(values: ValuesOf<Wanted>, call: ToolCall): Promise<ToolAnswer>
}

export const tool = <Wanted extends Fields>({ run, ...said }: Definition<Wanted>): McpTool => ({
  ...said,
  prepare(given) {
    const read = valuesFrom(said.fields, given)
    return 'wrong' in read ? read : { run: (call) => run(read.values, call) }
  },
})

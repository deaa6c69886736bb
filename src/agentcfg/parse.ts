import { fromJson, type JsonObject } from '@bufbuild/protobuf'
import { type ConfigurationFile, ConfigurationFileSchema } from '../rpc/index.ts'
import { Failure, parseYamlTree, type ReadYamlTree, type YamlTreeText } from '../std/index.ts'
import { type ConfigurationMistake, createMistakeList } from './mistakes.ts'
import { readMessage } from './read-message.ts'
import { checkGitops, checkValue } from './rules.ts'

/** More is refused before it is read. */
const CONFIGURATION_BYTES = 128 * 2 ** 10

/** Of 128 KiB nobody needs more; aliases may make sixteen times as much of it. */
const LIMITS = { characters: CONFIGURATION_BYTES, tokens: 60_000, depth: 50, expanded: 16 * CONFIGURATION_BYTES }

export type ParsedConfiguration =
  | { configuration: ConfigurationFile; mistakes?: undefined }
  | { mistakes: ConfigurationMistake[]; configuration?: undefined }

/**
 * A configuration file, or everything that is wrong with it. No text at all is a configuration too: an empty one.
 * `projectPath`: of the project that it is in, which a manifest project without `id` means.
 */
export function parseConfigurationFile(data: Uint8Array, projectPath: string): ParsedConfiguration {
  const text = textIn(data)
  return typeof text === 'string' ? parsedFrom(parseYamlTree(text, { limits: LIMITS }), projectPath) : text
}

/** The same; a program of many users has a thread for it: the largest file takes most of a second. */
export async function readConfigurationFile(
  data: Uint8Array,
  projectPath: string,
  read: ReadYamlTree,
): Promise<ParsedConfiguration> {
  const text = textIn(data)
  return typeof text === 'string' ? parsedFrom(await read(text, { limits: LIMITS }), projectPath) : text
}

function textIn(data: Uint8Array): string | ParsedConfiguration {
  if (data.length > CONFIGURATION_BYTES) return wrong(`the file is ${data.length} bytes; at most ${CONFIGURATION_BYTES} are read`)
  return decoded(data) ?? wrong('the file is not UTF-8')
}

function parsedFrom(read: YamlTreeText, projectPath: string): ParsedConfiguration {
  if (read.problem) {
    const { message, line, column } = read.problem
    return { mistakes: [{ message, line, column }] }
  }
  const { tree } = read
  const findings = createMistakeList()
  const visit: Parameters<typeof readMessage>[0]['visit'] = (value, where) => checkValue(findings, value, where)
  const json: JsonObject = tree ? readMessage({ findings, visit }, ConfigurationFileSchema, tree, '') : {}
  checkGitops(findings, tree, projectPath)
  const mistakes = findings.all()
  return mistakes.length > 0 ? { mistakes } : built(json)
}

const wrong = (message: string): ParsedConfiguration => ({ mistakes: [{ message, line: 1, column: 1 }] })

function decoded(data: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(data)
  } catch {
    return undefined
  }
}

/** A file that passes the rules and that protobuf refuses is told of without a place, rather than not at all. */
function built(json: JsonObject): ParsedConfiguration {
  try {
    return { configuration: fromJson(ConfigurationFileSchema, json) }
  } catch (thrown) {
    return wrong(Failure.from(thrown).message)
  }
}

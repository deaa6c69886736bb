import { withoutGit } from '../../../api/index.ts'
import { AWAIT_SCRIPT, CLONE_SCRIPT } from './clone-script.ts'
import { CREDENTIAL_SCRIPT } from './credential-script.ts'
import type { GitPlan } from './plan.ts'
import { SSH_SCRIPT } from './ssh-script.ts'

/** Where the files are in every container. */
export const FOLDER = '/.workspace-data/git'
/** And the copied Secret. */
export const SECRET_FOLDER = '/.workspace-data/git-secret'

export interface FileLocations {
  folder?: string
  secret?: string
  /** The folders of projects, as containers have them. */
  projects: readonly string[]
  /** Numbers that the pod may run as. */
  users?: readonly number[]
}

/** The names of users in the container that clones, whatever its image has: SSH does nothing for one without a name. */
export const NAMES = 'passwd'

const namesOf = (users: readonly number[]): string =>
  ['root:x:0:0::/:/bin/sh', ...users.map((user) => `user-${user}:x:${user}:0::/tmp:/bin/sh`)].map((line) => `${line}\n`).join('')

/** The content of the ConfigMap: scripts that are the same for every workspace, and values, a file for each. */
export function gitFiles(
  git: GitPlan,
  { folder = FOLDER, secret = SECRET_FOLDER, projects, users = [] }: FileLocations,
): Record<string, string> {
  const { url, ref, kasUrl, kasCa, gitCa } = git
  return {
    'credential.sh': CREDENTIAL_SCRIPT,
    'clone.sh': CLONE_SCRIPT,
    'ssh.sh': SSH_SCRIPT,
    [NAMES]: namesOf(users),
    'await-clone.sh': AWAIT_SCRIPT,
    gitconfig: configText(sectionsOf(git, { folder, projects })),
    url: url.href,
    // As Git names the parts of it to its helpers.
    protocol: url.protocol.slice(0, -1),
    host: url.host,
    path: withoutGit(decoded(url.pathname).replace(/^\/+/, '')),
    ref,
    folder: git.folder,
    secret,
    ...(kasUrl !== undefined && { 'kas-url': kasUrl }),
    ...(kasUrl !== undefined && kasCa !== undefined && { 'kas-ca.crt': kasCa }),
    ...(gitCa !== undefined && { 'git-ca.crt': gitCa }),
  }
}

/** System-wide, so that whatever a person sets for himself wins. What the image has for all is read first. */
function sectionsOf(
  { url, userName, userEmail, gitCa, copied, folder: name }: GitPlan,
  { folder, projects }: Pick<Required<FileLocations>, 'folder' | 'projects'>,
): Section[] {
  const sections: Section[] = [
    { name: 'include', variables: [['path', '/etc/gitconfig']] },
    {
      name: 'user',
      variables: [
        ['name', userName],
        ['email', userEmail],
      ],
    },
    // A volume may belong to another number than the user of the pod.
    { name: 'safe', variables: projects.map((root) => ['directory', `${root}/${name}`] as const) },
  ]
  if (url.protocol !== 'ssh:') {
    const variables = [
      // A helper of the image keeps nothing that kas gives.
      ['helper', ''],
      ['helper', `${folder}/credential.sh`],
      ['useHttpPath', 'true'],
    ] as const
    sections.push({ name: 'credential', subsection: url.href, variables })
    if (gitCa !== undefined)
      sections.push({ name: 'http', subsection: url.origin, variables: [['sslCAInfo', `${folder}/git-ca.crt`]] })
  }
  if (copied?.data['ssh-privatekey'] !== undefined) {
    sections.push({ name: 'core', variables: [['sshCommand', `${folder}/ssh.sh`]] })
    // Else Git would start it once more, to learn which words it understands.
    sections.push({ name: 'ssh', variables: [['variant', 'ssh']] })
  }
  return sections
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** One section of a Git configuration: its name, its subsection, its variables in order. */
interface Section {
  name: string
  subsection?: string
  variables: readonly (readonly [key: string, value: string])[]
}

/** As Git reads it. Whatever a value holds, it stays a value. */
const configText = (sections: readonly Section[]): string => sections.map(sectionText).join('')

function sectionText({ name, subsection, variables }: Section): string {
  const title = subsection === undefined ? name : `${name} "${subsection.replace(/[\\"]/g, '\\$&').replaceAll('\n', '')}"`
  return `[${title}]\n${variables.map(([key, value]) => `\t${key} = "${quoted(value)}"\n`).join('')}`
}

const quoted = (value: string): string =>
  value
    .replace(/[\\"]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t')
    .replace(/\p{Cc}/gu, '')

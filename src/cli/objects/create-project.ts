import { Option } from 'commander'
import { type GitProject, type GitProjectSpec, GitProjects, Secrets, typeMetaOf } from '../../api/index.ts'
import { type CreateOptions, createObject, withCreation } from '../create-object.ts'
import { type WaitOptions, withWait } from '../gitops/deployment.ts'
import { withKube } from '../options.ts'
import { actionVerb } from '../verb.ts'
import { waitUntilReady } from './wait.ts'

interface Options extends CreateOptions, WaitOptions {
  url: string
  path?: string
  type?: NonNullable<GitProjectSpec['type']>
  branch?: string
  credentials?: string
  visibility?: NonNullable<GitProjectSpec['visibility']>
  pollInterval?: string
}

export const project = actionVerb({
  description: 'Let kas know a Git repository, or published charts or artifacts, so that the namespace may use them.',
  examples: [
    ['berth create project web --url https://git.example.com/web.git -n team-a', 'team-a/web'],
    ['berth create project web --url ssh://git@git.example.com/web --credentials web-git', 'with a key'],
    ['berth create project charts --url https://charts.example.com --type helm', 'Helm charts'],
    ['berth create project shop --url oci://registry.example.com/shop', 'artifacts'],
  ],
  options: (command) =>
    withWait(
      withCreation(command, GitProjects)
        .requiredOption('--url <url>', 'where it is fetched from: https, http, ssh or oci, without credentials')
        .addOption(
          new Option('--type <name>', 'what is there (default: oci for oci://, else git)').choices(['git', 'helm', 'oci']),
        )
        .option('--path <path>', 'by which people and agents name it (default: NAMESPACE/NAME)')
        .option('--branch <name>', 'branch that is meant when none is named (default: that of HEAD)')
        .option(
          '--credentials <name>',
          'Secret in the namespace: username and password, token, ssh-privatekey and known_hosts, or a pull secret',
        )
        .addOption(
          new Option('--visibility <name>', 'who may read devfiles in it (default: private)').choices([
            'private',
            'internal',
            'public',
          ]),
        )
        .option('--poll-interval <duration>', 'how often kas looks for new commits, such as 20s'),
    ),
  run: (shell, name: string, options: Options) =>
    withKube(shell, options, async (kube) => {
      const { url, type, namespace, path = `${namespace}/${name}`, branch, credentials, visibility, pollInterval } = options
      const object: GitProject = {
        ...typeMetaOf(GitProjects),
        metadata: { name, namespace },
        spec: {
          url,
          ...(type && { type }),
          path,
          ...(branch !== undefined && { defaultBranch: branch }),
          ...(credentials !== undefined && { credentialsSecretRef: { name: credentials } }),
          ...(visibility && { visibility }),
          ...(pollInterval !== undefined && { pollInterval }),
        },
      }
      const context = { shell, kube, kind: GitProjects }
      const made = await createObject({ ...context, object, needs: [[Secrets, credentials]] }, options)
      return waitUntilReady({ ...context, made }, options)
    }),
})

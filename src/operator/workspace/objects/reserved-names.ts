/** Set for every workspace, or read by the tools that are put into it. */
const OURS = /^(GL_.*|BERTH_.*|GIT_CONFIG_.*|GITLAB_WORKFLOW_(INSTANCE_URL|TOKEN_FILE)|PROJECTS_ROOT|PROJECT_SOURCE)$/

/**
 * Names by which a variable makes programs run or load something: whoever can write a Secret of the namespace would run it as the
 * owner of every workspace there. First sudo's list of what never reaches a program (`initial_badenv_table` of its env.c), then those
 * of what people have in workspaces: loaders, shells, Git and SSH, editors and pagers, language runtimes and build tools.
 */
const LOADS_CODE = new Set(
  `IFS CDPATH LOCALDOMAIN RES_OPTIONS HOSTALIASES NLSPATH PATH_LOCALE LD_* _RLD* SHLIB_PATH LIBPATH AUTHSTATE KRB5_* VAR_ACE USR_ACE
  DLC_ACE TERMINFO TERMINFO_DIRS TERMPATH TERMCAP ENV BASH_* PS4 GLOBIGNORE BASHOPTS SHELLOPTS JAVA_TOOL_OPTIONS PERLIO_DEBUG PERLLIB
  PERL5* FPATH NULLCMD READNULLCMD ZDOTDIR TMPPREFIX PYTHONHOME PYTHONPATH PYTHONINSPECT PYTHONUSERBASE RUBYLIB RUBYOPT
  PATH HOME SHELL DYLD_* GCONV_PATH LOCPATH OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES PROMPT_COMMAND PS0 PS1 PS2 GIT_* SSH_* SUDO_*
  KUBECONFIG DOCKER_CONFIG EDITOR VISUAL PAGER MANPAGER LESSOPEN LESSCLOSE BROWSER VIMINIT EXINIT EMACSLOADPATH
  NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE ELECTRON_RUN_AS_NODE NPM_CONFIG_SCRIPT_SHELL NPM_CONFIG_GIT NPM_CONFIG_NODE_OPTIONS
  NPM_CONFIG_EDITOR NPM_CONFIG_USERCONFIG NPM_CONFIG_GLOBALCONFIG NPM_CONFIG_PREFIX PYTHONSTARTUP PYTHONBREAKPOINT PYTHONWARNINGS
  PYTHONEXECUTABLE PYTHONPLATLIBDIR CLASSPATH _JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_OPTS MAVEN_OPTS MAVEN_ARGS GRADLE_OPTS ANT_OPTS SBT_OPTS
  DOTNET_STARTUP_HOOKS CORECLR_* COR_* PHPRC PHP_INI_SCAN_DIR LUA_* R_PROFILE* R_ENVIRON* JULIA_* GOFLAGS GOENV GOROOT CARGO_* RUSTC*
  RUSTFLAGS MAKEFLAGS MAKEFILES CC CXX LD CMAKE_* PKG_CONFIG* CONFIG_SITE JAVA_HOME GRADLE_USER_HOME M2_HOME BUNDLE_* GEM_HOME GEM_PATH
  PIP_CONFIG_FILE YARN_RC_FILENAME YARN_PLUGINS COMPOSER_HOME ERL_* ELIXIR_ERL_OPTIONS GUILE_LOAD_PATH TCLLIBPATH INPUTRC PSQLRC LESSKEY*
  FZF_DEFAULT_* XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_DIRS VIM VIMRUNTIME MYVIMRC WGETRC CURL_HOME GNUPGHOME AWS_CONFIG_FILE ANSIBLE_*
  TF_CLI_CONFIG_FILE HELM_PLUGINS KREW_ROOT`.split(/\s+/),
)
const PREFIXES = [...LOADS_CODE].filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))

/** Why nobody, or nobody but the owner, may give a workspace a variable of this name; undefined where everybody may. */
export function whyReserved(name: string, isInherited: boolean): string | undefined {
  if (OURS.test(name)) return 'its name is reserved, because it is set for every workspace'
  // npm reads its own in either case.
  const upper = name.toUpperCase().startsWith('NPM_CONFIG_') ? name.toUpperCase() : name
  if (!isInherited || !(LOADS_CODE.has(upper) || PREFIXES.some((prefix) => upper.startsWith(prefix)))) return undefined
  return 'its name is reserved, because it makes programs run code; the owner may set it in spec.variables'
}

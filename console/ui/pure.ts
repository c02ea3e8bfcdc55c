import { Component } from 'preact';

/** Component that is rendered again only if a property changes. Used for rows of long lists. */
export abstract class Pure<Props extends object> extends Component<Props> {
  override shouldComponentUpdate(next: Props): boolean {
    return (Object.keys(next) as (keyof Props)[]).some((name) => next[name] !== (this.props as Props)[name]);
  }
}

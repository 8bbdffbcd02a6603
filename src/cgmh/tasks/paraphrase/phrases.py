"""The tables of the phrasebook.

A line of a table is a set of phrases that may be exchanged (``|``). Where there is a ``>``, each phrase before it may
become any of those behind it, but not the other way round; ``/`` parts those before it. The first ``*`` of a phrase, X,
and the second, Y, stand for one word or several, which stay; ``Ys`` is Y with its verb in the third person, ``Yed`` in
the past. The phrases are general English, written by hand.
"""

# At the beginning of a sentence or of a clause.
OPENINGS = """
is it a good idea to > should i
what was the best | which was the best
what was the most | which was the most
what was the worst | which was the worst
what will happen > what is going to happen
how could we > how can we | what could we do to
what are the different > what are the various
how can i > how do i
how can i / how do i / how should i / how could i > what is the best way to
how could i / how to / how would i / how do i go about > how can i | how do i
how can you > how do you
how can one > how does one
how can you / how do you / how can one / how does one / how can someone / how can a person > what is the best way to
how can we > how do we
how can we / how do we > what is the best way to
how should we > what is the best way to
what are the best ways to > how can i | how do i
what is the easiest way to / what is the simplest way to > how can i easily
what are some ways to / what are the ways to / what are ways to / what are the various ways to > how can i | how can one
what are some ways to | what are the ways to
what can i do to / what should i do to / what do i need to do to / what do i do to > how can i | how do i
what can be done to > how can we
is there any way to | is there a way to
is there any way to / is there a way to / is there any possibility to > is it possible to | how can i
is it possible for me to > can i
is it possible to > can you | is there a way to
do you think | do you believe
does anyone know > do you know
what are some good | what are some great
what are good > what are some good
what are some good > what are some of the best
what are examples of > what are some examples of
what are some | what are a few
what are the best | which are the best
what are some of the > what are the
what are some of the best > which are the best
what are best / which are best > which are the best | what are the best
which are some of the best > what are some of the best
what are the most | which are the most
what are the top | which are the top
what are the worst | which are the worst
what are the greatest | which are the greatest
what are your favorite | which are your favorite
what are your favorite > what are some of your favorite
what is the best | which is the best
what is best / which is best > which is the best | what is the best
what is the most | which is the most
what is the worst | which is the worst
what is the greatest | which is the greatest
what is the biggest | which is the biggest
what is the largest | which is the largest
what is the cheapest | which is the cheapest
what is the highest | which is the highest
what is the fastest | which is the fastest
what is your favorite | which is your favorite
what is the correct way to / what is the right way to / what is the proper way to > how should i | how should one
what is the reason for | what is the reason behind
what are the reasons for | what are the reasons behind
what is the process to | what is the procedure to
what is the process of | what is the procedure of
what is the process for | what is the procedure for
what are the benefits of | what are the advantages of
what are the chances of > what is the likelihood of
what is the scope of / what is the scope for > what are the prospects for
what does it feel like / how does it feel > what is it like
how does it feel > what does it feel like
what do you think of / what do you think about > what is your opinion of | what are your thoughts on
what is your opinion on / what is your opinion about / what is your view on > what do you think about
what are your thoughts on / what are your views on / what are your opinions on > what do you think about
what is meant by > what is the meaning of
what is the definition of > how do you define
how would you define > what is your definition of
what happens if | what will happen if
where can i watch > where is it possible to watch
where is the best place to | what is the best place to
who are the best > who are some of the best
who are some of the > who are the
why is it that people > why do people
how long does it | how much time does it
how long will it | how much time will it
how long would it | how much time would it
how much does it cost to > what does it cost to
how come > why is it that
which > what
what do you think is > in your opinion , what is
what do you think are > in your opinion , what are
what do you think will > in your opinion , what will
what do you think would > in your opinion , what would
who do you think is > in your opinion , who is
who do you think will > in your opinion , who will
who do you think would > in your opinion , who would
in your opinion , what is > what do you think is
in your opinion , who is > who do you think is
what do you mean by / what do we mean by > what is meant by | what is the meaning of
what were some of the > what were the
what were the best | which were the best
what were the main | what were the major
what will we > what are we going to
who is going to > who will
how does someone | how does a person | how does somebody
how can someone | how can a person | how can somebody
how hard is it | how difficult is it
how likely is it that > what is the likelihood that | what are the chances that
how much did it cost to > what did it cost to
how much would it cost to > what would it cost to
how much will it cost to > what will it cost to
when is the best time to | what is the best time to
what steps can be taken to / what is to be done to > what can be done to
do you want to > would you like to
can any one > can anyone
is it okay | is it ok | is it all right
is it advisable to > is it wise to
is it really | is it actually
is it the right time to / is it a right time to > is now the right time to | is this the right time to
are there any ways to / are there ways to > is there a way to
why isn't there a > why is there no
why isn't there any > why is there no
why aren't there any > why are there no
difference between > what is the difference between
differences between > what are the differences between
what is difference between > what are the differences between
what is meaning of / meaning of > what is the meaning of
importance of > what is the importance of
advantages of > what are the advantages of
disadvantages of > what are the disadvantages of
best way to / the best way to / what is best way to > what is the best way to
best ways to / the best ways to > what are the best ways to
examples of > what are some examples of
what animals | which animals
what countries | which countries
what companies | which companies
what states | which states
what books | which books
what movies | which movies
what languages | which languages
what universities | which universities
what colleges | which colleges
what websites | which websites
what apps | which apps
what subjects | which subjects
what cities | which cities
what year | which year
in what year | in which year
who are some of your favorite > who are your favorite
who are your favorite > who are some of your favorite
from where can > where can
from where do > where do
how one can > how can one | how does one
how i can > how can i | how do i
how you can > how can you | how do you
how we can > how can we | how do we
how safe it is to > how safe is it to
how long it takes to > how long does it take to | how much time does it take to
what i can do > what can i do
what i should do > what should i do
why i can't > why can't i | why is it that i can't
benefits of > what are the benefits of
effects of > what are the effects of
causes of > what are the causes of
types of > what are the types of
definition of > what is the definition of
purpose of > what is the purpose of
best place to > what is the best place to
best books for > what are the best books for
best books on > what are the best books on
best book for > what is the best book for
best book on > what is the best book on
any tips for > do you have any tips for
any tips on > do you have any tips on
any advice for > do you have any advice for
any advice on > do you have any advice on
any suggestions for > do you have any suggestions for
any suggestions on > do you have any suggestions on
can someone tell | could someone tell
can anyone tell | could anyone tell
can someone explain | could someone explain
can anyone explain | could anyone explain
can someone help | could someone help
can anyone help | could anyone help
can anyone suggest > could anyone suggest
can someone suggest > could someone suggest
can anyone recommend > could anyone recommend
i want to > i would like to
in what ways can > how can
in what ways do > how do
in what ways does > how does
in what ways did > how did
if a person > if someone
when a person > when someone
"""

# Anywhere in a sentence.
ANYWHERE = """
advantages and disadvantages | pros and cons
advantages of | benefits of
disadvantages of | drawbacks of | downsides of
what kind of | what type of | what sort of
what kinds of | what types of
kinds of | types of
how much time > how long
how often | how frequently
think of | think about
know if > tell if | know whether
know whether > tell whether
tell if > know if
find out if | find out whether
deal with | handle | cope with
dealing with | handling | coping with
get over > overcome
give up | quit
quit > stop
make money | earn money
making money | earning money
make some money > earn some money
movie | film
movies | films
buy | purchase
buying | purchasing
bought | purchased
children | kids
country | nation
countries | nations
photos | pictures
photo | picture
mobile phone | cell phone
mobile phones | cell phones
cellphone > mobile phone
begin > start
difficult > hard
difficult to | hard to
intelligent > smart
famous > well-known
largest > biggest
easiest | simplest
fastest | quickest
easy way | simple way
cheapest > least expensive
costliest > most expensive
repair > fix
because of | due to
in order to > to
so as to > to
a lot of | lots of
plenty of > a lot of
instead of | rather than
other than | apart from | besides
right now | at the moment
nowadays | these days
of all time > ever
all over the world | around the world | across the world
in the entire world > in the world
each day > every day
each other | one another
people who | those who
a person who > someone who
a large number of > many
a couple of > a few
prior to > before
regarding > about
concerning > about
attempt to > try to
till > until
perhaps > maybe
obtain > get
assist > help
utilize > use
wealthy > rich
scared of | afraid of
get better at > improve at
become better at > get better at
figure out > work out
look for > search for
looking for > searching for
search for > look for
talk to | speak to
talk about | speak about
talking to | speaking to
at the same time > simultaneously
even though | although
for free > free of charge
free of cost > for free
harmful for > bad for
the importance of > the significance of
the significance of > the importance of
the main | the major
the impact of | the effect of
the impacts of | the effects of
the consequences of > the effects of
job opportunities | career opportunities
job opportunities > employment opportunities
start learning > begin learning | begin to learn
start preparing > begin preparing
according to you > in your opinion
find a job > get a job
methods to > ways to
method to > way to
methods of > ways of
per day > a day
per week > a week
per month > a month
per year > a year
needed to > required to
permitted to > allowed to
the main reason | the primary reason
right away > immediately
within the next > in the next
have an impact on > affect
has an impact on > affects
"""

# Whole sentences and clauses with stars.
FRAMES = """
what is the difference between * and * ? > what is the difference between Y and X ?
what are the differences between * and * ? > what are the differences between Y and X ?
what are * in * ? > what are some X in Y ?
what are * for * ? > what are some X for Y ?
what are * about * ? > what are some X about Y ?
what are * to * ? > what are some X to Y ?
what are * of * ? > what are some X of Y ?
what are the different types of * ? > what types of * are there ? | what kinds of * are there ?
why does * * ? > why is it that X Ys ?
why did * * ? > why is it that X Yed ?
what are the main differences between * ? > what are the main ways in which * differ ?
how is * different from * ? > what is the difference between * and * ? | how does * differ from * ?
how are * different from * ? > how do * differ from * ? | what is the difference between * and * ?
how does * differ from * ? > how is * different from * ? | what is the difference between * and * ?
what does * mean ? > what is the meaning of * ?
what is the meaning of * ? > what does * mean ?
what is meant by * ? > what does * mean ?
what exactly is * ? > what is * exactly ?
what exactly are * ? > what are * exactly ?
why is * so * ? > what makes * so * ?
why are * so * ? > what makes * so * ? | why is it that * are so * ?
what makes * so * ? > why is * so * ?
why do * ? > why is it that * ? | what makes * ?
why does * ? > what makes * ?
why did * ? > what made * ?
why is * * ? > why is it that * is * ?
why are * * ? > why is it that * are * ?
why was * * ? > why is it that * was * ?
why were * * ? > why is it that * were * ?
why has * * ? > why is it that * has * ?
why have * * ? > why is it that * have * ?
why can * * ? > why is it that * can * ?
is it true that * is * ? > is * * ?
is it true that * are * ? > are * * ?
is it possible for * to * ? > can * * ?
do you think * will * ? > will * * ?
do you think * should * ? > should * * ?
when will * * ? > when is * going to * ?
what is the number of * in * ? > how many * are there in * ?
what is the population of * ? > how many people live in * ?
what happens if * ? > if * , what happens ?
what happens when * ? > when * , what happens ?
if X , Y ? > Y if X ?
how does * affect * ? > what effect does * have on * ? | what impact does * have on * ?
how do * affect * ? > what effect do * have on * ? | what impact do * have on * ?
how will * affect * ? > what effect will * have on * ? | what impact will * have on * ?
how would * affect * ? > what effect would * have on * ? | what impact would * have on * ?
how did * affect * ? > what effect did * have on * ? | what impact did * have on * ?
how has * affected * ? > what effect has * had on * ? | what impact has * had on * ?
how can * affect * ? > what effect can * have on * ?
how much does * cost ? > what is the cost of * ? | what does * cost ?
how much do * cost ? > what is the price of * ?
what is the cost of * ? > how much does * cost ?
what is the price of * ? > how much does * cost ?
what causes * ? > what is the cause of * ? | what are the causes of * ?
what are the causes of * ? > what causes * ?
what is the cause of * ? > what causes * ?
what caused * ? > what was the cause of * ?
what are the types of * ? > what types of * are there ? | what kinds of * are there ?
what types of * are there ? > what are the different types of * ?
what kinds of * are there ? > what are the different types of * ?
what is the future of * ? > what does the future hold for * ?
what is the salary of * ? > how much does * earn ?
what is your favorite * ? > which * is your favorite ? | which * do you like the most ?
what are your favorite * ? > which * do you like the most ?
who is your favorite * ? > which * is your favorite ? | which * do you like the most ?
which is the best * for * ? > which * is the best for * ?
which * is best for * ? > what is the best * for * ? | which is the best * for * ?
which * is the best for * ? > what is the best * for * ? | which is the best * for * ?
which * is best ? > what is the best * ? | which is the best * ?
which * is the best ? > what is the best * ? | which is the best * ?
what * is best for * ? > what is the best * for * ?
which * are the best ? > what are the best * ?
which * should i buy ? > what is the best * to buy ?
what are the reasons why * ? > why is it that * ?
what is the reason why * ? > why is it that * ?
what advice would you give to * ? > what advice do you have for * ?
what advice would you give * ? > what advice do you have for * ?
is it worth it to * ? > is it worthwhile to * ?
how can * online ? > how can * on the internet ?
how do * online ? > how do * on the internet ?
what is * known for ? > what is * famous for ?
what is * famous for ? > what is * known for ?
who won * ? > who was the winner of * ?
who invented * ? > who was the inventor of * ?
who created * ? > who was the creator of * ?
what will be the impact of * on * ? > how will * affect * ?
what will be the effect of * on * ? > how will * affect * ?
what is the impact of * on * ? > how does * affect * ?
what is the effect of * on * ? > how does * affect * ?
what are the effects of * on * ? > how does * affect * ?
what impact will * have on * ? > how will * affect * ?
how is it like to * ? > what is it like to * ?
how will * * ? > how is * going to * ?
how is * going to * ? > how will X Yo ?
how are * going to * ? > how will X Yo ?
when is * going to * ? > when will X Yo ?
when are * going to * ? > when will X Yo ?
is * going to * ? > will X Yo ?
are * going to * ? > will X Yo ?
what is the * going to * ? > what will the X Yo ?
when do you think * will * ? > in your opinion , when will * * ?
is it true that * can * ? > can * * ?
is it true that * will * ? > will * * ?
is it true that * was * ? > was * * ?
is it true that * has * ? > has * * ?
does * really * ? > does * actually * ?
do * really * ? > do * actually * ?
did * really * ? > did * actually * ?
can * really * ? > can * actually * ?
does * actually * ? > does * really * ?
do * actually * ? > do * really * ?
did * actually * ? > did * really * ?
is * really * ? > is * actually * ?
are * really * ? > are * actually * ?
what if * had * ? > what would have happened if * had * ?
what differentiates * from * ? > how is * different from * ? | what makes * different from * ?
what makes * different from * ? > how is * different from * ? | how does * differ from * ?
what effect will * have on * ? > how will * affect * ?
what effect does * have on * ? > how does * affect * ?
what effect do * have on * ? > how do * affect * ?
what effect did * have on * ? > how did * affect * ?
what effect would * have on * ? > how would * affect * ?
what impact does * have on * ? > how does * affect * ?
what impact do * have on * ? > how do * affect * ?
what impact would * have on * ? > how would * affect * ?
what impact did * have on * ? > how did * affect * ?
what * should i * ? > which * should i * ?
what * should we * ? > which * should we * ?
what * should one * ? > which * should one * ?
what * can i * ? > which * can i * ?
who wrote * ? > who is the author of * ?
who is the author of * ? > who wrote * ?
who founded * ? > who was the founder of * ?
who was the founder of * ? > who founded * ?
when did * start ? > when did * begin ?
when did * begin ? > when did * start ?
what keeps * from * ? > what prevents * from * ? | what stops * from * ?
what stops * from * ? > what prevents * from * ? | what keeps * from * ?
what prevents * from * ? > what stops * from * ? | what keeps * from * ?
how * is different from * ? > how is * different from * ?
how * are different from * ? > how are * different from * ?
why don't people * ? > why is it that people don't * ?
why don't they * ? > why is it that they don't * ?
why don't i * ? > why is it that i don't * ?
"""

# Openings and frames that are as right, but that people use less in place of one another.
LESS_USUAL = """
what is it like > what does it feel like
what is the best way to > how can i | how do i | how do you
how can i / how do i / how should i / how could i > what can i do to
how do i > how can i
how do you > how can you | how can one | how does one
how does one > how can one
how can you > how can one
how do we > how can we
how can we / how do we > what can we do to
what are the best / which are the best > what are some of the best
what are the most / which are the most > what are some of the most
is there a > is there any
could * * ? > do you think * could * ?
will * * ? > do you think * will * ?
would * * ? > do you think * would * ?
should * * ? > do you think * should * ?
should i > do you think i should
should we > do you think we should
what is the best / which is the best > what do you think is the best
what is the most / which is the most > what do you think is the most
who is the best > who do you think is the best
who is the most > who do you think is the most
who would > who do you think would
who will > who do you think will
who should > who do you think should
what would happen > what do you think would happen
where can i find > where is the best place to find | where do i find
where can i buy > where is the best place to buy | where do i buy
where can i get > where is the best place to get | where do i get
where can i learn > what is the best place to learn
what is a good > can you recommend a good
what are some good / what are good / what are some great > can you recommend some good
what are some examples of / what are examples of > can you give me some examples of | can you give examples of
what is the best way to | what are the best ways to
can i > is it possible to
can we > is it possible to
can one / can you > is it possible to
where can i | where could i
what are some tips > do you have any tips | what are a few tips
why do so many people > why is it that so many people
what is the difference between * and * ? > how does * differ from * ? | how is * different from * ?
what are the differences between * and * ? > how do * and * differ ?
what is the difference between * ? > how do * differ ?
should * be * ? > do you think that * should be * ?
what are the steps to * ? > what steps should i take to * ?
what is the purpose of | what is the point of
do i need to | do i have to
what if > what would happen if
what were the > what were some of the
who are the > who are some of the
who were the > who were some of the
are you a fan of > do you like
what * do you * ? > which * do you * ?
who will > who is going to
will * * ? > is * going to * ?
who was the best > who do you think was the best
who was the greatest > who do you think was the greatest
what * did you * ? > which * did you * ?
what * have you * ? > which * have you * ?
why doesn't * * ? > why is it that * doesn't * ?
why didn't * * ? > why is it that * didn't * ?
why isn't * * ? > why is it that * isn't * ?
why aren't * * ? > why is it that * aren't * ?
why can't * * ? > why is it that * can't * ?
why hasn't * * ? > why is it that * hasn't * ?
why haven't * * ? > why is it that * haven't * ?
why won't * * ? > why is it that * won't * ?
is it safe > would it be safe
is it wise > would it be wise
is it better > would it be better
is it good > would it be good
is it bad > would it be bad
is it okay > would it be okay
is it ok > would it be ok
is it moral > would it be moral
is it wrong > would it be wrong
is it smart > would it be smart
is it ethical > would it be ethical
is it advisable > would it be advisable
is it worth > would it be worth
is it a good idea > would it be a good idea
is * better than * ? > which is better , * or * ?
which is better , * or * ? > is * better than * ?
which one is better , * or * ? > is * better than * ?
are there any good > do you know of any good
are there any other > do you know of any other
are there any free > do you know of any free
"""

# The same, where the question may turn a little: taken where nothing better is found.
TURNED = """
does * * ? > is it true that X Ys ?
did * * ? > is it true that X Yed ?
can * * ? > is it possible for * to * ?
is * * ? > is it true that * is * ?
are * * ? > is it true that * are * ?
was * * ? > is it true that * was * ?
were * * ? > is it true that * were * ?
has * * ? > is it true that * has * ?
have * * ? > is it true that * have * ?
do * ? > is it true that * ?
why would * * ? > why is it that * would * ?
why should * * ? > why is it that * should * ?
what is X ? > what exactly is X ? | what is X exactly ?
what is a > what is meant by a
what is an > what is meant by an
what are the > what are some of the
what are X ? > what exactly are X ? | what are X exactly ?
what does X ? > what exactly does X ? | what does X exactly ?
what do X ? > what exactly do X ? | what do X exactly ?
what did X ? > what exactly did X ? | what did X exactly ?
why does X ? > why exactly does X ?
why did X ? > why exactly did X ?
why is X ? > why exactly is X ?
why are X ? > why exactly are X ?
how does X ? > how exactly does X ? | how does X exactly ?
how do X ? > how exactly do X ? | how do X exactly ?
how did X ? > how exactly did X ?
how is X ? > how exactly is X ?
how are X ? > how exactly are X ?
where is X ? > where exactly is X ?
where are X ? > where exactly are X ?
where do X ? > where exactly do X ?
where does X ? > where exactly does X ?
when did X ? > when exactly did X ?
when does X ? > when exactly does X ?
when will X ? > when exactly will X ?
who is X ? > who exactly is X ? | who is X exactly ?
who are X ? > who exactly are X ? | who are X exactly ?
what was X ? > what exactly was X ? | what was X exactly ?
how will X ? > how exactly will X ?
how can X ? > how exactly can X ?
how would X ? > how exactly would X ?
how should X ? > how exactly should X ?
what should X ? > what exactly should X ?
what would X ? > what exactly would X ?
what will X ? > what exactly will X ?
where did X ? > where exactly did X ?
where was X ? > where exactly was X ?
who was X ? > who exactly was X ?
"""

# Small words, anywhere, that hardly change a sentence: where nothing better is found, too.
SMALL = """
someone | somebody
anyone | anybody
everyone | everybody
"""
